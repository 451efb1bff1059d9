// How the tests of the simulation run many schedules: over which store, from which seed, how many, and what they report of
// one that fails. The first seed follows from the sources; HOLDFAST_FIRST_SEED names another.
import { type SimulationOptions, type SimulationResult, simulate } from "@holdfast/testing";
import { bareFaults, bareStore } from "./bare-store.fixture.ts";
import { sqliteStore } from "./sqlite-store.fixture.ts";
import { runThreadsWorld } from "./threads-world.fixture.ts";

/** Worlds by the store that their processes share: in memory, in a SQLite file, or a bare session store. Work in the background has its own. */
const worlds = {
	memory: {},
	background: { background: true },
	nested: { nested: true },
	nestedInSqlite: { nested: true, store: sqliteStore },
	sqlite: { store: sqliteStore },
	bare: { store: bareStore, faults: bareFaults },
} as const satisfies Record<string, Omit<SimulationOptions, "seed">>;

/** The name of a kind of world: one of these, or the threads of a project. */
export type WorldName = keyof typeof worlds | "threads";

/** Whether there is such a kind of world. */
export function isWorld(name: string): name is WorldName {
	return name === "threads" || Object.hasOwn(worlds, name);
}

const { HOLDFAST_SCHEDULES } = process.env;

/** Schedules of a scenario in the run per commit; HOLDFAST_SCHEDULES changes it. */
export const perCommit: number = Number(HOLDFAST_SCHEDULES ?? 100);

/** Schedules of a world in the longer run; HOLDFAST_SCHEDULES changes it. */
export function inLongerRun(count: number): number {
	return Number(HOLDFAST_SCHEDULES ?? count);
}

/** How long the schedules of a world may take, in milliseconds. */
export const schedulesTimeout = 600_000;

const { HOLDFAST_SEED, HOLDFAST_WORLD = "memory", HOLDFAST_FIRST_SEED } = process.env;

/** The one schedule to replay, when HOLDFAST_SEED names its seed and HOLDFAST_WORLD its world. */
export const replayed: { readonly seed: number; readonly world: WorldName } | undefined =
	HOLDFAST_SEED === undefined
		? undefined
		: { seed: Number(HOLDFAST_SEED), world: HOLDFAST_WORLD as WorldName };

/** Runs one schedule. */
export function runSchedule(world: WorldName, seed: number): Promise<SimulationResult> {
	return world === "threads" ? runThreadsWorld(seed) : simulate({ ...worlds[world], seed });
}

/** Runs a seed after the other; the first that fails, if any. */
export async function firstFailing(
	from: number,
	count: number,
	options: Omit<SimulationOptions, "seed"> = {},
): Promise<SimulationResult | undefined> {
	for (let seed = from; seed < from + count; seed++) {
		const result = await simulate({ ...options, seed });
		if (!result.ok) return result;
	}
	return undefined;
}

/** What to know of a schedule that failed, and how to see it again. */
export function report(world: WorldName, { seed, problem, trace }: SimulationResult): string {
	const replay = `HOLDFAST_WORLD=${world} HOLDFAST_SEED=${seed} npx vitest run test/simulation/simulation.test.ts -t replays`;
	return [`Seed ${seed} (${world}): ${problem}`, `Replay it with: ${replay}`, "", ...trace.slice(-80)].join(
		"\n",
	);
}

/** Runs so many schedules from the first seed of this run; prints which, or throws with the first that failed. */
export async function runSchedules(world: WorldName, count: number): Promise<void> {
	const from = firstSeed(world, count);
	for (let seed = from; seed < from + count; seed++) {
		const result = await runSchedule(world, seed);
		if (!result.ok) throw new Error(report(world, result));
	}
}

/** The first seed of this run; prints it. */
export function firstSeed(world: string, count: number): number {
	const from = Number(HOLDFAST_FIRST_SEED);
	console.log(`${count} schedules (${world}) from HOLDFAST_FIRST_SEED=${from}`);
	return from;
}

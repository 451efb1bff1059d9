// How the tests of the simulation run many schedules: from which seed, how many, and what is said of one that fails.
import { type SimulationOptions, type SimulationResult, simulate } from "@holdfast/testing";

/** Schedules in all; HOLDFAST_SCHEDULES changes it. */
export const scheduleCount: number = Number(process.env.HOLDFAST_SCHEDULES ?? 5_000);

/** The one seed to replay, when HOLDFAST_SEED names it. */
export const replayedSeed: number | undefined =
	process.env.HOLDFAST_SEED === undefined ? undefined : Number(process.env.HOLDFAST_SEED);

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
export function report({ seed, problem, trace }: SimulationResult): string {
	const replay = `HOLDFAST_SEED=${seed} npx vitest run test/simulation/simulation.test.ts -t replays`;
	return [`Seed ${seed}: ${problem}`, `Replay it with: ${replay}`, "", ...trace.slice(-80)].join("\n");
}

/** Runs schedules; says how many, or throws with the first that failed. */
export async function runSchedules(from: number, count: number): Promise<void> {
	const failed = await firstFailing(from, count);
	if (failed !== undefined) throw new Error(report(failed));
	console.log(`${count} schedules hold, seeds ${from} to ${from + count - 1}.`);
}

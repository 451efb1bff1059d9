// Runs a schedule: operations happen in an order that the seed chooses, then all faults end, the workers recover, and the
// invariants are checked.
import { messageOf } from "@holdfast/upp";
import { undelivered, unreported } from "./background-checks.ts";
import { isAtRest } from "./child-checks.ts";
import { checkOutcome, checkView } from "./final-checks.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { Process } from "./process.ts";
import type { SimulatedStore, WorldClock } from "./simulated-store.ts";
import { Users } from "./users.ts";
import { World, type WorldFault, worldFaults } from "./world.ts";

/** Options of `simulate`. */
export interface SimulationOptions {
	/** Determines everything: the same seed produces the same trace. */
	readonly seed: number;
	/** Number of operations before all faults end. Default: 5 to 40, chosen by the seed. */
	readonly steps?: number;
	/** The enabled faults. Default: all of them. */
	readonly faults?: readonly WorldFault[];
	/** A planted fault, to test that the checks find it. Default: none. */
	readonly planted?: PlantedFault;
	/**
	 * Creates the store that the workers share, with the simulated clock. Default: the one in memory. Faults can only be
	 * planted in the default store.
	 */
	readonly store?: (clock: WorldClock) => SimulatedStore;
	/** Whether sub-agents work in the background, and sessions get notifications. Default: the seed chooses, one schedule in seven. */
	readonly background?: true;
	/** Whether sub-agents wait for approvals and results. Default: the seed chooses, one schedule in seven. */
	readonly nested?: true;
}

/** The result of a schedule. */
export interface SimulationResult {
	/** The seed of the schedule: the same seed gives the same events. */
	readonly seed: number;
	/** Whether all invariants hold. */
	readonly ok: boolean;
	/** The first violated invariant. */
	readonly problem?: string;
	/** The events of the schedule, one per line, in order. */
	readonly trace: readonly string[];
}

/** Rounds of recovery after which open work counts as stuck. */
const mostRounds = 60;

/**
 * Runs the engine and its sessions through one schedule, with two or three workers over one store. Users send, steer,
 * interrupt, suspend, stop, fork, fold, kill and delete; they answer or approve calls, and schedule notifications.
 * Models and tools fail, and providers are overloaded. A sub-agent works while its parent waits or in the background.
 * The scheduler delays, reorders, crashes, stops and restarts. Everything follows from the seed, without real time.
 *
 * The following is checked during and after the schedule. No committed fact is lost or duplicated, there is one writer
 * at a time, and each effect has one recorded key. Accepted inputs are processed once and in order, and accepted
 * answers are recorded. Every run ends, and every call has exactly one result. Watchers receive exactly the committed
 * events, and a deletion leaves nothing behind. Each background task ends and is reported once. Each notification is
 * delivered once and acknowledged.
 *
 * @example
 * ```ts
 * import { simulate } from "@holdfast/testing";
 *
 * const { ok, problem } = await simulate({ seed: 7 });
 * if (!ok) throw new Error(problem);
 * ```
 */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
	const { seed, steps, faults = worldFaults, planted, store, background, nested } = options;
	const world = new World({ seed, faults: new Set(faults), planted, store, background, nested });
	const users = new Users(world);
	const { ledger, schedule } = world;
	try {
		await live(world, users, steps ?? 5 + world.random.below(36));
		if (ledger.problem === undefined) await comeToRest(world, users);
		if (ledger.problem === undefined) await checkOutcome(world, users);
		if (ledger.problem === undefined) await checkView(world);
	} catch (error) {
		ledger.wrong(messageOf(error));
	}
	const { problem } = ledger;
	const { trace } = schedule;
	for (const process of world.living) process.die();
	await world.shared.end();
	return problem === undefined ? { seed, ok: true, trace } : { seed, ok: false, problem, trace };
}

/** Runs operations of users and faults, interleaved with steps of the started work. */
async function live(world: World, users: Users, steps: number): Promise<void> {
	const { random, schedule, ledger } = world;
	for (let done = 0; done < steps && ledger.problem === undefined; done++) {
		if (random.chance(0.68)) users.act();
		else befall(world);
		await schedule.rest();
		for (let left = random.below(9); left > 0 && ledger.problem === undefined; left--) {
			if (!(await schedule.step())) break;
		}
	}
}

/** An unwanted event occurs, or time passes. */
function befall(world: World): void {
	const { random, schedule, faults } = world;
	const possible = (["crash", "stop", "lapse", "clock", "store"] as const).filter((fault) =>
		faults.has(fault),
	);
	const kind = random.pick([...possible, "time", "time", "start", "wake", "wake"] as const);
	const process = world.living.length === 0 ? undefined : random.pick(world.living);
	schedule.note(`the world: ${kind} ${process?.name ?? ""}`);
	if (kind === "time") schedule.pass(random.pick([1, 50, 250, 2_000]));
	else if (kind === "start" || process === undefined) {
		if (world.living.length < 4) world.startProcess();
	} else if (kind === "crash") process.die();
	else if (kind === "stop") process.stop();
	else if (kind === "wake") process.wake();
	else if (kind === "lapse") process.lapse();
	else if (kind === "clock") process.jumpClock(random.pick([-3_600_000, -5_000, 5_000, 3_600_000]));
	else process.failNextWrite();
}

/** Ends all faults, and lets the workers finish open work. Work that is still unfinished is stuck. */
async function comeToRest(world: World, users: Users): Promise<void> {
	const { schedule, ledger } = world;
	world.calm = true;
	schedule.note("the world: all faults end");
	for (const process of world.living) {
		if (process.lapsed) process.wake();
	}
	for (let round = 0; round < mostRounds; round++) {
		while (ledger.problem === undefined && (await schedule.step()));
		if (ledger.problem !== undefined) return;
		const unfinished = await whatIsOpen(world, users);
		if (unfinished === undefined) return;
		if (round === mostRounds - 1) return ledger.wrong(`stuck: ${unfinished}`);
		const process = world.serving[0] ?? world.startProcess();
		if (round % 3 === 0) {
			for (const each of whoSettles(world, round)) await users.settle(each);
		} else if (round % 3 === 1) {
			// A deadline set by a fast clock may be hours away.
			const atLeast = round < mostRounds / 2 ? 1_000 : 3_600_000;
			schedule.pass(Math.max(schedule.untilTimer ?? 0, atLeast));
		} else interruptHanging(world, users);
		if (process.dead) world.startProcess();
		await schedule.rest();
	}
}

/**
 * Returns the processes that recover: all at once, and in the last rounds one after another. Without leases, workers that
 * resume a session concurrently take it from each other, possibly in every round.
 */
function whoSettles({ serving }: World, round: number): readonly Process[] {
	if (round < mostRounds / 2) return serving;
	const turn = Math.floor(round / 3) % serving.length;
	return serving.slice(turn, turn + 1);
}

/** Interrupts tools and models that never settle, on behalf of their users. */
function interruptHanging(world: World, users: Users): void {
	for (const process of world.serving) {
		for (const key of world.sessions) users.interrupt(process, key);
	}
}

async function whatIsOpen(world: World, users: Users): Promise<string | undefined> {
	const sessions = await world.store.list();
	for (const { key, openRunId, waiting } of sessions) {
		if (isAtRest(world.ledger, key)) continue;
		if (openRunId !== undefined) return `a run of ${key} is open`;
		if (waiting > 0) return `inputs of ${key} wait`;
	}
	for (const { what, process } of users.waiting.values()) {
		if (!process.dead) return `"${what}" does not settle`;
	}
	const unended = users.runs.find((each) => !each.process.dead && each.outcome === undefined);
	if (unended !== undefined) {
		const input = users.inputs.find(({ run }) => run === unended.run);
		return `the result of ${unended.run.sessionKey} does not settle that was to take in "${input?.text}"`;
	}
	// A recovery delivers reminders that their worker could not.
	return undelivered(world, users, sessions) ?? unreported(world, users);
}

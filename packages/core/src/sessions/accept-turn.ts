// How a turn comes to a session: it starts at once where nothing is before it, else it waits in the store's inbox, and
// either way it is durable before whoever sent it hears of it (keeps I3, I4).

import { sessionKilled } from "../engine/index.ts";
import type { AcceptedInput, Watcher } from "../facts/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { endsRun, pendingToolCalls, sessionBusy } from "./session-errors.ts";
import type { SessionWorker } from "./session-worker.ts";
import type { QueuedTurn } from "./turn-queue.ts";

/** How a turn is started. */
export interface StartOptions {
	/** Id of the run. Default: a new one. */
	readonly runId?: string | undefined;
	/**
	 * Called when the session is this worker's, before the run begins: nothing else can begin in it between this and the
	 * run. What it rejects with refuses the turn.
	 */
	readonly beforeBegin?: (() => Promise<void>) | undefined;
	/** Looks on from the very beginning. */
	readonly watcher?: Watcher | undefined;
}

/** Accepts a turn. It starts when the turns before it have ended. */
export async function sendTurn(worker: SessionWorker, input: AcceptedInput): Promise<AgentRun> {
	worker.ensureUsable();
	const { queue, turnstile, hold } = worker;
	const turn = turnOf(worker, input, worker.agent.ports.ids.uuid());
	const { run } = turn;
	const atOnce = worker.idle;
	const accept = (): Promise<void> => startOrStore(worker, turn);
	queue.push(turn);
	try {
		await (atOnce ? queue.goesAhead(turn, turnstile.through(accept)) : store(worker, turn));
	} catch (error) {
		// What stands in the store is another's, or cannot be read: that is how this run ends, and there it stays.
		if (!endsRun(error)) throw error;
		run.neverStarted("journal_failed", error, hold.state.agent);
	}
	worker.pump();
	return run;
}

/**
 * Begins a turn at once, or not at all. Rejects with `pending_tool_calls` while a run waits for somebody outside, and with
 * `session_busy` while one is under way.
 */
export async function startTurn(
	worker: SessionWorker,
	input: AcceptedInput,
	{ runId, watcher, beforeBegin }: StartOptions = {},
): Promise<AgentRun> {
	worker.ensureUsable();
	const { key, queue, turnstile, hold } = worker;
	if (!worker.idle) throw sessionBusy(key);
	const turn = turnOf(worker, input, runId ?? worker.agent.ports.ids.uuid());
	if (watcher !== undefined) turn.run.observe(watcher);
	const begin = async (): Promise<void> => {
		if (await begins(worker, turn, beforeBegin)) return;
		// What others did since this process worked on the session must be seen.
		hold.drop();
		if (!(await begins(worker, turn, beforeBegin))) throw sessionBusy(key);
	};
	queue.push(turn);
	try {
		await queue.goesAhead(turn, turnstile.through(begin));
	} catch (error) {
		queue.remove(turn);
		throw error;
	}
	return turn.run;
}

/**
 * Accepts a turn under an id and a dedupe key that were chosen before. Null when it was accepted before, and is over or in
 * other hands.
 */
export async function deliverTurn(
	worker: SessionWorker,
	runId: string,
	input: AcceptedInput,
	dedupeKey: string,
): Promise<AgentRun | null> {
	worker.ensureUsable();
	const turn: QueuedTurn = { ...turnOf(worker, input, runId), dedupeKey };
	worker.queue.push(turn);
	if ((await worker.queue.store(turn)) === "duplicate") return worker.takeUp(runId);
	worker.pump();
	return turn.run;
}

function turnOf(worker: SessionWorker, input: AcceptedInput, runId: string): QueuedTurn {
	return { run: worker.handleOf(runId), input, inputId: input.message.id, place: "new" };
}

async function begins(
	worker: SessionWorker,
	turn: QueuedTurn,
	beforeBegin: StartOptions["beforeBegin"],
): Promise<boolean> {
	const { key, hold, queue } = worker;
	const { setup } = worker.table.agent;
	if (setup !== undefined) await setup.over();
	if ((await worker.opening.open()) !== "ours") throw sessionBusy(key);
	if (worker.killed) throw sessionKilled();
	await beforeBegin?.();
	if (hold.waits) throw pendingToolCalls(key);
	return hold.openRunId === undefined && queue.first === turn && worker.begin(turn);
}

/** The fast way: where nothing is before this turn, its start is its acceptance. */
async function startOrStore(worker: SessionWorker, turn: QueuedTurn): Promise<void> {
	const { hold, queue } = worker;
	try {
		const { setup } = worker.table.agent;
		if (setup !== undefined) await setup.over();
		const { fairness } = worker.agent;
		const moment = worker.table.othersWork ? fairness.turn() : fairness.begin();
		if (moment !== undefined) await moment;
		const ours = (await worker.opening.open()) === "ours";
		if (worker.killed) throw sessionKilled();
		const first = ours && hold.openRunId === undefined && queue.first === turn;
		if (first && (await worker.begin(turn))) return;
		if (worker.killed) throw sessionKilled();
	} catch (error) {
		queue.remove(turn);
		throw error;
	}
	// An unfinished run comes first, and so does whoever holds the session: this turn waits for its place.
	await store(worker, turn);
}

/** Accepts a turn that does not start at once. */
async function store({ key, queue, pendingInputs, table }: SessionWorker, turn: QueuedTurn): Promise<void> {
	await pendingInputs.arrived(queue.store(turn));
	const { runId } = turn.run;
	const kind = turn.input.origin?.runKind ?? "user-turn";
	// The turn is accepted; a record that cannot be made now is made when the run starts.
	await table.records?.queued({ runId, sessionKey: key, kind }).catch(() => {});
}

// Callers' requests to a session. Each enters the session's queue and works on its actor, which is the only part that
// changes state. A turn is durable before its sender is notified (keeps I3, I4).
import { after, attempt, guarded } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import {
	type AcceptedInput,
	duplicateInput,
	inputFact,
	type SessionState,
	type Watcher,
} from "../facts/index.ts";
import type { Append, MaybePromise } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { QueuedTurn } from "./mailbox.ts";
import type { Opened } from "./open-session.ts";
import { dropLateAnswers } from "./open-session.ts";
import { continuation, take } from "./outside-requests.ts";
import { killChildren } from "./remove-session.ts";
import type { Resumption } from "./resume-turn.ts";
import { checkInput, deliverEvent, isEvent, startWithEvent } from "./run-events.ts";
import type { SessionActor } from "./session-actor.ts";
import { endsRun, sessionBusy, sessionHeld, unknownMessage } from "./session-errors.ts";
import type { Place, SessionQueue } from "./session-queue.ts";
import { awaitsInput, isOfAnother, refuseWaiting, stopped } from "./settlement.ts";
import { isRunning, renamed, type Steered } from "./turn.ts";

/** How to start a turn. */
export interface StartOptions {
	/** Id of the run. Default: a new one. */
	readonly runId?: string | undefined;
	/**
	 * A key that you choose, such as that of a request. If several inputs of a session have the same key, the first is
	 * accepted, in any process, and the others reject with `duplicate_input`. The session stores the key until it is
	 * deleted. Default: none.
	 */
	readonly dedupeKey?: string | undefined;
	/**
	 * Called once this worker has the session and before the run begins; nothing else can begin in between. If it
	 * rejects, the turn is refused with that error.
	 * @internal
	 */
	readonly beforeBegin?: (() => Promise<void>) | undefined;
	/** Receives all events from the very beginning. */
	readonly watcher?: Watcher | undefined;
	/**
	 * Id of its message. If the history already has a message of that id, the message gets a new one. Default: the id of
	 * a message object, otherwise a new one.
	 */
	readonly messageId?: string | undefined;
	/**
	 * Id of the user message that this turn replaces: that message and all that follow are removed from the history,
	 * which continues with this turn. The turn's message has the same id. Default: the turn follows the last message.
	 */
	readonly insteadOf?: string | undefined;
	/** The requester. Default: unknown. */
	readonly caller?: Caller | undefined;
	/**
	 * The initial values of a new session: see `Append.values`. Default: none.
	 * @internal
	 */
	readonly values?: Append["values"];
}

/** Accepts a turn. It begins when all earlier turns have ended. */
export function send(
	queue: SessionQueue,
	input: AcceptedInput,
	{ runId, messageId }: Pick<StartOptions, "runId" | "messageId"> = {},
): MaybePromise<AgentRun> {
	return queue.ask("send", (actor, place) => {
		if (isEvent(actor, input)) return deliverEvent(actor, input);
		const turn = queued(actor, input, "sent", runId);
		return accept(actor, messageId === undefined ? turn : { ...turn, isNamed: true }, place);
	});
}

function accept(actor: SessionActor, turn: QueuedTurn, place: Place): MaybePromise<AgentRun> {
	actor.ensureUsable();
	return after(checkInput(actor, turn.input), () => acceptChecked(actor, turn, place));
}

function acceptChecked(actor: SessionActor, turn: QueuedTurn, place: Place): MaybePromise<AgentRun> {
	const { mailbox } = actor;
	const mayBegin = actor.isIdle && place === "in-line";
	mailbox.push(turn);
	const accepted = (): AgentRun => turn.run;
	const refused = (error: unknown): AgentRun => {
		// Another worker has the stored session, or it cannot be read: this run ends with that error, permanently.
		if (!endsRun(error)) throw error;
		turn.run.abandon("journal_failed", error, actor.lease.state.agent);
		return accepted();
	};
	return attempt(() => (mayBegin ? beginOrStore(actor, turn) : store(actor, turn)), accepted, refused);
}

/** The fast path: if nothing precedes this turn, beginning it accepts it. */
function beginOrStore(actor: SessionActor, turn: QueuedTurn): MaybePromise<void> {
	const { mailbox } = actor;
	const next = (begun: boolean): MaybePromise<void> => {
		// An unfinished run, or the session's owner, comes first: this turn waits in the inbox.
		if (!begun) return store(actor, turn);
	};
	const refused = (error: unknown): never => {
		mailbox.remove(turn);
		throw error;
	};
	return after(
		guarded(() => beginFirst(actor, turn), refused),
		next,
	);
}

/** Begins a turn if it is the first one in a session that this worker owns. A session in memory is opened at once. */
function beginFirst(actor: SessionActor, turn: QueuedTurn): MaybePromise<boolean> {
	const { lease, mailbox, table } = actor;
	const begun = (isBegun: boolean): boolean => {
		if (!isBegun) actor.ensureNotKilled();
		return isBegun;
	};
	const begin = (session: Opened): MaybePromise<boolean> => {
		actor.ensureNotKilled();
		const isFirst = session === "ours" && lease.openRunId === undefined && mailbox.first === turn;
		return after(isFirst && actor.begin(turn), begun);
	};
	const open = (): MaybePromise<boolean> => after(actor.open(), begin);
	const { setup } = table.agent;
	return setup === undefined ? open() : setup.over().then(open);
}

/** Accepts a turn that does not begin at once. */
async function store({ mailbox, table, sessionKey }: SessionActor, turn: QueuedTurn): Promise<void> {
	if ((await mailbox.store(turn)) === "duplicate") throw duplicateInput(sessionKey);
	const { runId } = turn.run;
	const kind = turn.input.origin?.runKind ?? "user-turn";
	// The turn is accepted. If it cannot be recorded now, it is recorded when the run begins.
	await table.records?.queued({ runId, sessionKey, kind }).catch(() => {});
}

/**
 * Starts a turn at once or rejects: with `pending_tool_calls` while a run waits for answers to its calls, and with
 * `session_busy` while a run is in progress or waits for anything else.
 */
export async function start(
	queue: SessionQueue,
	input: AcceptedInput,
	options: StartOptions = {},
): Promise<AgentRun> {
	return queue.ask("start", (actor) =>
		isEvent(actor, input) ? startWithEvent(actor, input, options.watcher) : startNow(actor, input, options),
	);
}

async function startNow(
	actor: SessionActor,
	input: AcceptedInput,
	{ runId, watcher, beforeBegin, messageId, insteadOf, values }: StartOptions,
): Promise<AgentRun> {
	// Checked first, because a mere `await` would let a run start to wait.
	if (actor.isEnding) await actor.ended();
	actor.ensureUsable();
	const { lease, mailbox, sessionKey } = actor;
	if (!actor.isIdle) throw sessionBusy(sessionKey);
	const turn: QueuedTurn = {
		...queued(actor, input, "sent", runId),
		...(insteadOf === undefined ? {} : { insteadOf }),
		...(values === undefined ? {} : { values }),
		...(insteadOf === undefined && messageId !== undefined ? { isNamed: true } : {}),
	};
	if (watcher !== undefined) turn.run.observe(watcher);
	const isKnown = (): boolean => insteadOf === undefined || hasSaid(lease.state, insteadOf);
	let isAwaited = false;
	let looks = 0;
	const begins = async (): Promise<boolean> => {
		await actor.table.agent.setup?.over();
		if ((await actor.open()) !== "ours") throw sessionBusy(sessionKey);
		actor.ensureNotKilled();
		isAwaited = insteadOf === undefined && awaitsInput(lease.state.run, input);
		if (lease.openRunId === undefined) await checkInput(actor, input);
		await beforeBegin?.();
		if (isAwaited) return true;
		// Another worker may have ended the wait since this process last read.
		if (++looks > 1) refuseWaiting(lease.state, sessionKey);
		return isKnown() && lease.openRunId === undefined && mailbox.first === turn && actor.begin(turn);
	};
	const taken = async (): Promise<AgentRun> => {
		mailbox.remove(turn);
		const continued = await take(actor, input, "new", watcher);
		if (continued === null) throw sessionBusy(sessionKey);
		return continued;
	};
	mailbox.push(turn);
	try {
		if (await begins()) return isAwaited ? await taken() : turn.run;
		// Reads what others have done since this process last had the session.
		lease.drop();
		if (await begins()) return isAwaited ? await taken() : turn.run;
		throw isKnown() ? sessionBusy(sessionKey) : unknownMessage(sessionKey, insteadOf);
	} catch (error) {
		mailbox.remove(turn);
		throw error;
	}
}

/** Whether the history has a user message with that id. */
function hasSaid({ agent }: SessionState, messageId: string): boolean {
	return agent.messages.some(({ id, type }) => id === messageId && type === "user");
}

/** Sends a message to the active run. If no run is active, the message becomes a turn of its own. */
export async function steer(
	queue: SessionQueue,
	input: AcceptedInput,
	options: Pick<StartOptions, "messageId"> = {},
): Promise<AgentRun> {
	return queue.ask("steer", (actor) =>
		isEvent(actor, input) ? deliverEvent(actor, input) : steerNow(actor, input, options),
	);
}

async function steerNow(
	actor: SessionActor,
	given: AcceptedInput,
	{ messageId }: Pick<StartOptions, "messageId">,
): Promise<AgentRun> {
	// Checked first, because a mere `await` would let a run start to wait.
	if (actor.isEnding) await actor.ended();
	actor.ensureUsable();
	const { mailbox } = actor;
	const naming = messageId === undefined ? {} : ({ isNamed: true } as const);
	if (actor.turn === undefined) {
		const taken = await take(actor, given);
		if (taken !== null) return taken;
	}
	const { turn } = actor;
	const isTooLate = turn === undefined || !isRunning(turn) || mailbox.holdsSteered(turn.run.runId);
	if (isTooLate) return accept(actor, { ...queued(actor, given, "steered"), ...naming }, "in-line");
	if (isOfAnother(turn.run.state.run, given))
		return accept(actor, { ...queued(actor, given, "sent"), ...naming }, "in-line");
	const input = messageId === undefined ? given : renamed(given, turn.run.state);
	const inputId = input.message.id;
	const said: Steered = { inputId, ...mailbox.steer(turn.run.runId, input) };
	turn.steered.push(said);
	try {
		await said.storing;
	} catch (error) {
		turn.steered.splice(turn.steered.indexOf(said), 1);
		throw error;
	}
	said.storing = undefined;
	turn.run.inputs.offer({ inputId, fact: (placement) => inputFact(inputId, said.input, placement) });
	if (isRunning(turn)) return turn.handle;
	await actor.ended(turn);
	if (turn.run.inputs.took(inputId)) return turn.handle;
	// The run ended before the input was in the inbox, where it is the next turn.
	return (
		said.turn ??
		(await take(actor, input, "stored")) ??
		// The run was resumed for another input, and takes this one too.
		(actor.turn?.run.runId === turn.run.runId ? actor.turn.handle : actor.queueLeftOver(said))
	);
}

/**
 * Resumes a run that a crash or suspension left open, or else begins the first queued turn; returns null if there is
 * neither. A run for which `isLeftOver` returns true is only ended.
 */
export async function resume(
	queue: SessionQueue,
	parked: Resumption["parked"] = "stays",
	isLeftOver: (runId: string) => MaybePromise<boolean> = () => false,
): Promise<AgentRun | null> {
	return queue.ask("resume", (actor) => resumeNow(actor, parked, isLeftOver));
}

async function resumeNow(
	actor: SessionActor,
	parked: Resumption["parked"],
	isLeftOver: (runId: string) => MaybePromise<boolean>,
): Promise<AgentRun | null> {
	actor.ensureUsable();
	const { lease, mailbox, sessionKey } = actor;
	if (actor.turn !== undefined) return actor.turn.handle;
	// Reads what others have done since this process last had the session.
	lease.drop();
	for (;;) {
		await actor.table.agent.engine.fairness.pause();
		if ((await actor.open()) !== "ours") {
			actor.ensureNotKilled();
			// Another living worker has the session, or the turn before ours.
			throw sessionHeld(sessionKey);
		}
		if (lease.openRunId === undefined && mailbox.first === undefined) {
			await dropLateAnswers(actor);
			return null;
		}
		if (lease.openRunId !== undefined && (await isLeftOver(lease.openRunId))) {
			await killChildren(actor.table, actor.storeKey);
			const ended = await actor.resumeOpen("released", stopped(lease.state));
			if (ended === undefined) continue;
			return ended;
		}
		if (lease.isWaiting) {
			const settlement = await continuation(actor);
			if (settlement === undefined) {
				actor.watchDeadline(lease.state);
				return null; // left to an outside caller
			}
			const continued = await actor.resumeOpen("released", settlement);
			if (continued === undefined) continue;
			actor.table.resumed(continued);
			return continued;
		}
		const begun = await actor.beginNext(parked);
		if (begun !== undefined) return begun;
	}
}

/** Returns the state after everything committed so far, including by other processes. */
export async function readState({ actor }: SessionQueue): Promise<SessionState> {
	actor.ensureUsable();
	return stateOf(actor);
}

/** Returns the state after everything committed so far. */
export async function stateOf(actor: SessionActor): Promise<SessionState> {
	if (actor.turn !== undefined) return actor.turn.run.state;
	try {
		return await actor.lease.read();
	} finally {
		actor.restIfIdle();
	}
}

/**
 * Accepts a turn under an id and a dedupe key chosen earlier. Returns null if the turn was accepted before and has ended
 * or belongs to another process. Rejects with `lease_lost` if the session is of another incarnation.
 */
export async function deliver(
	queue: SessionQueue,
	runId: string,
	input: AcceptedInput,
	dedupeKey: string,
	incarnation?: string,
): Promise<AgentRun | null> {
	const accepted = await queue.ask("deliver", async (actor) => {
		actor.ensureUsable();
		const said = queued(actor, { ...input, dedupeKey }, "sent", runId);
		const turn: QueuedTurn = { ...said, isNamed: true, incarnation };
		actor.mailbox.push(turn);
		return (await actor.mailbox.store(turn)) === "duplicate" ? null : turn.run;
	});
	return accepted ?? resumeRun(queue, runId);
}

/** Starts a run for a waiting notice; returns null if another run has taken the notice. */
export async function deliverNotice(
	queue: SessionQueue,
	runId: string,
	noticeId: string,
): Promise<AgentRun | null> {
	const { actor } = queue;
	actor.mailbox.promote(noticeId, actor.handle(runId));
	try {
		return await resumeRun(queue, runId);
	} finally {
		actor.mailbox.demote(noticeId);
	}
}

/** Resumes or starts a run without an owner. Returns null if the run has ended or another process owns it. */
export async function resumeRun(queue: SessionQueue, runId: string): Promise<AgentRun | null> {
	for (;;) {
		const { actor } = queue;
		await actor.table.agent.engine.fairness.pause();
		const { turn, mailbox } = actor;
		if (turn?.run.runId === runId || mailbox.find(runId) !== undefined) return null;
		if (turn === undefined) break;
		await actor.over(turn);
	}
	try {
		const resumed = await resume(queue);
		if (resumed?.runId === runId) return resumed;
		// The handle of a run that was found open is not shared, so the run must not wait for a consumer.
		if (queue.actor.turn?.isResumed === true) resumed?.detach();
	} catch (error) {
		if ((error as { code?: unknown }).code !== "session_held") throw error;
	}
	return queue.actor.mailbox.find(runId)?.run ?? null;
}

function queued(
	actor: SessionActor,
	input: AcceptedInput,
	origin: QueuedTurn["origin"],
	runId?: string,
): QueuedTurn {
	return { run: actor.handle(runId), input, inputId: input.message.id, origin, stage: "new" };
}

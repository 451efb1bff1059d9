// A turn: a run of one session. It is built from the session's state, its start is recorded, and it is driven (keeps
// I3, I4). Its parts are passed in; this module depends on neither queues nor session states.
import { attempt, UserMessage } from "@holdfast/upp";
import {
	type AskedSystem,
	CommitFailed,
	type CommitOptions,
	type DriveOutcome,
	drive,
	type EngineAgent,
	type ModelWait,
	type ObserveRun,
	Run,
	receivesInputs,
	refusedEnd,
	withinCall,
} from "../engine/index.ts";
import {
	type AcceptedInput,
	type AgentEvent,
	cutHistory,
	type Fact,
	inputFact,
	readEdit,
	type SessionState,
} from "../facts/index.ts";
import type { Lease, MaybePromise, StoredInput } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { EarlyAnswers } from "./early-answers.ts";
import { type QueuedTurn, readInput } from "./mailbox.ts";
import { type Recording, recordingOf } from "./recording.ts";
import { startOf, systemFacts } from "./run-start.ts";
import type { SessionLease } from "./session-lease.ts";
import type { SessionRecords } from "./session-records.ts";
import type { SessionAgent } from "./turn-agent.ts";
import { type About, type FrameSession, TurnFrame } from "./turn-frame.ts";
import type { UnreadRuns } from "./unread-runs.ts";
import { storedAnswers } from "./waiting-answers.ts";

/** A run in progress in this process. */
export interface Turn {
	readonly run: Run;
	readonly handle: AgentRun;
	readonly frame: TurnFrame;
	/** Whether the run was found open. */
	readonly isResumed: boolean;
	/** How a run ended that policy did not allow to begin: it is not driven. */
	readonly refused?: DriveOutcome | undefined;
	/** Settles when the session has recorded the run's end; set while it is driven. */
	over?: Promise<unknown>;
	/** The inputs to the run in this process, in order. */
	readonly steered: Steered[];
}

/** An input to a run. */
export interface Steered {
	readonly inputId: string;
	readonly input: AcceptedInput;
	/** Settles when the inbox has stored or refused the input; set while it is on its way. */
	storing?: Promise<unknown> | undefined;
	/** The turn that the input became if the run did not take it. */
	turn?: AgentRun;
}

/** The parts of its session that a turn uses. */
export interface TurnSession extends FrameSession {
	/** Identifies the session within this process. */
	readonly processKey: string;
	readonly agent: SessionAgent;
	readonly records: SessionRecords | undefined;
	/** Whether the journal keeps deltas. */
	readonly keepsDeltas: boolean;
	/** Outside answers for the calls of a running run. */
	readonly answers: EarlyAnswers;
	/** How runs wait for their model's provider; undefined: they do not wait. */
	readonly modelWait: ModelWait | undefined;
	readonly unread: UnreadRuns;
	readonly lease: SessionLease;
	/** Notices that wait for the next run. */
	readonly notices: readonly StoredInput[];
	/** Observes the runs that are driven. */
	readonly observe?: ObserveRun | undefined;
}

/** The agent of a turn. */
export interface TurnAgent {
	readonly agent: EngineAgent;
	/** What its `system` function returned; undefined if it has none. */
	readonly asked: AskedSystem | undefined;
}

/** The result of the first commit. `taken`: another worker has taken over the session. */
export type FirstCommit = "committed" | "taken" | { readonly refusal: unknown };

/** Records the start of a turn and then calls `begun`. Returns undefined if another worker was faster. */
export function beginTurn(
	session: TurnSession,
	{ agent, asked }: TurnAgent,
	{ run: handle, inputId, input: given, stage, insteadOf, isNamed, values }: QueuedTurn,
	begun: () => void,
): MaybePromise<Turn | undefined> {
	const { lease } = session;
	const input = isNamed === true ? renamed(given, lease.state) : given;
	const { origin, message } = input;
	const cut = insteadOf === undefined ? [] : [{ kind: "history.cut", messageId: insteadOf } as const];
	const state = insteadOf === undefined ? session.state : cutHistory(session.state, insteadOf);
	// Edits of the history that arrived before the turn precede it.
	const edits = session.notices.filter(({ kind }) => kind === "edit");
	const isPlain = insteadOf === undefined && edits.length === 0;
	const notices = session.notices.filter(({ kind }) => kind !== "edit");
	// Answers to calls of an ended run.
	const late = session.notices.filter(({ kind }) => kind === "tool-result");
	const { run, frame } = makeRun(isPlain ? session : { ...session, state, notices }, agent, handle, {
		inputId,
		origin,
		begin: "begun",
		message,
	});
	if (asked !== undefined && "error" in asked) run.systemFailed = asked;
	const facts: Fact[] = [
		startOf(run.agent, origin, systemFacts(run.agent.fingerprint(), asked, state)),
		...cut,
		...edits.map(({ body }) => readEdit(body)),
		inputFact(inputId, input, origin?.runKind === "notification" ? "turn-start" : "turn"),
	];
	const taken = [...[...edits, ...late].map(({ id }) => id), ...(stage === "seen" ? [inputId] : [])];
	// An inbox input already has its key there.
	const dedupeKey = stage === "seen" ? undefined : given.dedupeKey;
	const options = commitOptions(taken, dedupeKey, values);
	const settle = (first: FirstCommit): Turn | undefined => {
		if (first === "taken") return undefined;
		begun();
		return { run, frame, handle, isResumed: false, refused: refusedOf(first), steered: [] };
	};
	const first = commitFirst(lease, run, facts, options);
	if (first instanceof Promise || (first !== "committed" && first !== "taken")) {
		return Promise.resolve(first).then(async (known) => {
			// A turn whose facts policy refuses is recorded as failed, so that it is not started again.
			if (known === "committed" || known === "taken") return settle(known);
			// The refusal may concern a history edit, which then waits for the next turn.
			const bare = startOf(run.agent, plainOrigin(origin));
			const own = commitOptions(stage === "seen" ? [inputId] : [], dedupeKey, values);
			return (await commitBare(lease, run, [bare], own, known.refusal)) === "taken"
				? undefined
				: settle(known);
		});
	}
	return settle(first);
}

/** Drives a turn that was started or resumed, and calls `ended` when it has ended. Settles after that. */
export function driveTurn(
	{ run, refused }: Turn,
	lease: Lease | undefined,
	isKilled: () => boolean,
	ended: (outcome: DriveOutcome) => void,
): Promise<unknown> {
	// If the session was killed, losing the lease means exactly that.
	const leaseIsLost = (): void => run.stop(isKilled() ? "kill" : "lease-lost");
	// The lease may be lost between the commit and its response, without a notification.
	if (lease === undefined) leaseIsLost();
	else lease.whenLost(leaseIsLost);
	run.ledger?.whenLost(() => run.stop("lease-lost"));
	return (refused === undefined ? drive(run) : Promise.resolve(refused)).then((outcome) => {
		run.ledger?.close();
		lease?.whenLost(undefined);
		ended(outcome);
	});
}

/** Whether a run's end is not recorded yet. */
export function isRunning({ run }: Turn): boolean {
	return run.state.run?.status === "running";
}

/**
 * Handles the end of a run, and ends the sub-agents that still wait although it has ended: it began to wait with them, or
 * was resumed and had not continued them yet. What fails is left to the search for what dead processes left.
 */
export function withChildren(
	{ run }: Turn,
	children: SessionAgent["children"],
	ended: (outcome: DriveOutcome) => void,
): (outcome: DriveOutcome) => void {
	const before = run.state.run?.children ?? [];
	return (outcome) => {
		ended(outcome);
		if (outcome.kind === "left") return;
		const left = [...before, ...(outcome.children ?? [])];
		if (left.length > 0) void children?.endLeft(run.state, left).catch(() => {});
	};
}

/** Whether an ended run may have left inputs or answers to its calls in the inbox. */
export function mayLeave({ run, isResumed }: Turn, outcome: DriveOutcome): boolean {
	if (outcome.kind !== "ended") return false;
	return run.round !== undefined || (isResumed && outcome.outcome !== "completed");
}

/** Whether something that a run waits for may have arrived while it started to wait, without being noticed. */
export function mayMiss({ run }: Turn): boolean {
	const { agent, inputs, round, state } = run;
	// Another process answers sub-agents and puts events into the inbox, and cannot continue the run before this one has
	// left it.
	const hasOthers = state.run?.children !== undefined || agent.decider.events !== undefined;
	return round !== undefined || inputs.any || (hasOthers && receivesInputs(run));
}

/** Creates the run of a turn, whose start or resume is then recorded. */
export function makeRun(
	session: TurnSession,
	agent: EngineAgent,
	handle: AgentRun,
	about: About,
): { readonly run: Run; readonly frame: TurnFrame } {
	const { lease, records, processKey, sessionKey, modelWait, policy } = session;
	const { origin } = about;
	const held = lease.current as Lease;
	const { recorder, ledger }: Recording =
		records === undefined ? { recorder: held } : recordingOf(records, held, handle, origin, lease.state.run);
	// Only a journal that stores chunks can return deltas later.
	const keepDeltasMs = session.keepsDeltas ? agent.keepDeltasMs : undefined;
	const frame = new TurnFrame(session, handle, about);
	const run = new Run({
		agent,
		runId: handle.runId,
		sessionKey,
		processKey,
		state: lease.state,
		recorder,
		ledger,
		interceptors: frame.policy.stages,
		admitting: frame.policy.admitting,
		mayWait: true,
		answers: session.answers,
		hasAnswers: storedAnswers(session.notices, handle.runId).length > 0,
		modelWait,
		readInput,
		observer: session.observe?.({ sessionKey, runId: handle.runId, caller: origin?.caller }),
		keepDeltasMs,
	});
	frame.run = run;
	for (const notice of session.notices)
		if (notice.kind !== "tool-result") run.inputs.offer(readInput(notice));
	// The run waits for its watchers.
	const lookOn = (event: AgentEvent): unknown => withinCall(processKey, () => policy?.notify(event, frame));
	handle.attach(run, session.unread, policy?.looksOn === true ? lookOn : undefined);
	return { run, frame };
}

/** Makes the commit that begins or resumes a run, which takes the session. If policy refuses it, nothing is committed. */
export function commitFirst(
	lease: SessionLease,
	run: Run,
	facts: readonly Fact[],
	options: CommitOptions | undefined,
): MaybePromise<FirstCommit> {
	return first(lease, () => run.commit(facts, options));
}

/** Commits the end of a run whose start was refused by policy. These facts contain none of the refused content. */
export function commitBare(
	lease: SessionLease,
	run: Run,
	facts: readonly Fact[],
	options: CommitOptions | undefined,
	refusal: unknown,
): MaybePromise<FirstCommit> {
	const bare = [...facts, refusedEnd("error", refusal)];
	return first(lease, () => run.commitAsIs(bare, options));
}

/** Returns the options of a first commit; undefined for none. */
export function commitOptions(
	drain: readonly string[],
	dedupeKey: string | undefined,
	values?: CommitOptions["values"],
): CommitOptions | undefined {
	if (drain.length === 0 && dedupeKey === undefined && values === undefined) return undefined;
	return {
		drain,
		...(dedupeKey === undefined ? {} : { dedupeKey }),
		...(values === undefined ? {} : { values }),
	};
}

function first(lease: SessionLease, commit: () => MaybePromise<boolean>): MaybePromise<FirstCommit> {
	const committed = (): FirstCommit => {
		lease.begun();
		return "committed";
	};
	const refused = (error: unknown): FirstCommit => {
		if (!(error instanceof CommitFailed)) return { refusal: error };
		const { cause } = error;
		lease.drop();
		const code = (cause as { code?: unknown } | undefined)?.code;
		if (code === "lease_lost") return "taken";
		// Without leases, the other writer's state need not be based on this one.
		if (code === "session_conflict") lease.left();
		throw cause;
	};
	return attempt(commit, committed, refused);
}

/** Returns how a run ended that policy did not allow to begin. */
export function refusedOf(first: FirstCommit): DriveOutcome | undefined {
	return typeof first === "string" ? undefined : { kind: "ended", outcome: "error", error: first.refusal };
}

/** Returns the input, whose message gets a new id if its id is already in the history. */
export function renamed(input: AcceptedInput, { agent }: SessionState): AcceptedInput {
	const { message } = input;
	if (agent.messages.every(({ id }) => id !== message.id)) return input;
	const { content, metadata } = message;
	return { ...input, message: new UserMessage(content, metadata === undefined ? {} : { metadata }) };
}

/** Returns who requested a run, without any of its content. */
function plainOrigin(origin: AcceptedInput["origin"]): AcceptedInput["origin"] {
	if (origin?.parent === undefined) return origin;
	const { description: _, ...parent } = origin.parent;
	return { ...origin, parent };
}

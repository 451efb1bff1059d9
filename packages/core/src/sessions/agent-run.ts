// One accepted turn of a session: its events, its result, and the ways to stop it.
import { HoldfastError, type StopReason, type TokenUsage, type Turn } from "@holdfast/upp";
import {
	type DriveOutcome,
	EventQueue,
	notifyComplete,
	outputOf,
	type ProcessKey,
	type Run,
	resultOf,
	turnOf,
	waitFor,
	withinCall,
} from "../engine/index.ts";
import type { AgentEvent, CacheReport, ErrorData, Mutable } from "../facts/index.ts";
import {
	errorData,
	joinModelEvents,
	type PendingToolCall,
	type PendingWait,
	pendingCalls,
	type RunEvent,
	type Watcher,
	waitOf,
	withCacheReport,
} from "../facts/index.ts";
import type { AgentState, GenerateResult } from "../state/index.ts";
import { awaitsItself } from "./session-errors.ts";
import { SessionEvents } from "./session-events.ts";
import type { TurnFrame } from "./turn-frame.ts";
import type { UnreadRuns } from "./unread-runs.ts";

/** The outcome of a run, as seen from this process. */
export interface RunResult<Output = unknown> {
	readonly runId: string;
	/** `suspended`: left open, to be resumed here or elsewhere. `waiting`: for answers to its `pending` tool calls. */
	readonly outcome: "completed" | "aborted" | "error" | "killed" | "suspended" | "waiting";
	/** The tool calls that need outside answers, including those of sub-agents; present if the run waits. */
	readonly pending?: readonly PendingToolCall[];
	/** Another wait of the run or of a sub-agent: until a time set by a strategy, or for a model that cannot be reached. */
	readonly wait?: PendingWait;
	/** Text of the last answer, or its streamed part if it was cut off; empty without an answer. */
	readonly text: string;
	/**
	 * Why the model stopped its last answer; `length` means that it reached the token limit. Absent without an answer,
	 * and if an interrupt or an error cut off the last one.
	 */
	readonly stopReason?: StopReason;
	/** Absent if the model never answered. */
	readonly turn?: Turn<Output>;
	/** The structured answer, for an agent with the option `output`; present if the run completed. */
	readonly output?: Output;
	/** The conversation after the run. */
	readonly state: AgentState;
	/** With the outcome `error`: why the run failed. Also set if the run is parked or was suspended by an error. */
	readonly error?: ErrorData;
	/** The tokens of all model calls of the run. */
	readonly usage: TokenUsage;
	/** The number of steps that the run took. */
	readonly steps: number;
	/** US dollars; absent when the price of any answer is unknown. */
	readonly cost?: number;
	/** How the prompt cache served the model calls. Not part of the JSON. Absent if the run never began in this process. */
	readonly cacheReport?: CacheReport;
}

/**
 * An accepted turn. It waits at each boundary for the consumer of `events()`; `watch()` and `result()` let it continue by
 * itself. If you stop reading the events, you detach from the run but never stop it. A run on which no method is called
 * for a second also continues by itself, until `events()` is called; see the option `unread`.
 */
export class AgentRun<Event = AgentEvent, Output = unknown, Watched = RunEvent> {
	/** Identifies the run, also after a restart. */
	readonly runId: string;
	/** The key of the session. */
	readonly sessionKey: string;
	readonly #events = new SessionEvents();
	readonly #result: Promise<RunResult>;
	#queues: EventQueue<RunEvent>[] = [];
	/** Events before the run passed its first step's start, for watchers that start right after `send` or `resume`. */
	#early: RunEvent[] | undefined = [];
	#settle!: (result: RunResult | Promise<RunResult>) => void;
	#run: Run | undefined;
	#consumed = false;
	#over = false;
	#from: number | undefined;
	#observer: Watcher | undefined;
	/** Ends the run while it waits. */
	#endWait: (() => void) | undefined;
	/** Identifies its session within this process. */
	#processKey: string | undefined;

	/** @internal */
	constructor(runId: string, sessionKey: string, processKey?: string) {
		this.runId = runId;
		this.sessionKey = sessionKey;
		this.#processKey = processKey;
		this.#result = new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	/**
	 * Returns the run's events, for one consumer. The run waits at turn-start, step-start and step-end until the next
	 * event is requested. Inside a tool or hook that the run waits for, requesting an event that has not happened yet
	 * rejects with `session_busy`.
	 * @throws HoldfastError `events_already_consumed` if called a second time.
	 */
	events(): AsyncIterableIterator<Event> {
		if (this.#consumed) {
			throw new HoldfastError(
				"events_already_consumed",
				"The events of a run have one consumer. Use watch() for additional ones.",
			);
		}
		this.#consumed = true;
		const events = this.#events;
		events.take();
		const iterator: AsyncIterableIterator<AgentEvent> = {
			next: () => this.#next(events),
			return: () => events.return(),
			[Symbol.asyncIterator]() {
				return this;
			},
		};
		return iterator as AsyncIterableIterator<Event>;
	}

	/** Returns all events, down to the model's deltas, for any number of watchers. The run waits for none of them. */
	watch(): AsyncIterableIterator<Watched> {
		const queue = new EventQueue<RunEvent>({ join: joinEvents });
		for (const event of this.#early ?? []) queue.push(event);
		if (this.#over) queue.end();
		else this.#queues.push(queue);
		this.#events.detach();
		const iterator: AsyncIterableIterator<RunEvent> = {
			next: () => this.#next(queue),
			return: () => {
				this.#queues = this.#queues.filter((each) => each !== queue);
				return queue.return();
			},
			[Symbol.asyncIterator]() {
				return this;
			},
		};
		return iterator as AsyncIterableIterator<unknown> as AsyncIterableIterator<Watched>;
	}

	/**
	 * Lets the run continue by itself and returns its outcome. A failed run resolves with its outcome.
	 *
	 * Rejects with `session_busy` if called by a tool or hook that the run waits for: one of the run's own session, or of
	 * a run that waits for this session. The run still continues by itself.
	 */
	result(): Promise<RunResult<Output>> {
		this.detach();
		const over = (): Promise<RunResult<Output>> => this.#result as Promise<RunResult<Output>>;
		// After the run has ended, hooks still follow that only its result waits for.
		const ended = (): Promise<RunResult<Output>> => this.#wait(this, over);
		return this.#over ? ended() : this.#wait(this.#processKey, ended);
	}

	/** Settles when the drive has ended, even while the run still waits for its consumer. @internal */
	get over(): Promise<unknown> {
		return this.#result;
	}

	/** Lets the run continue by itself. @internal */
	detach(): void {
		this.#events.detach();
	}

	#next<T>(events: { readonly isWaiting: boolean; next(): Promise<T> }): Promise<T> {
		return events.isWaiting ? this.#wait(this.#processKey, () => events.next()) : events.next();
	}

	#wait<T>(processKey: ProcessKey | undefined, what: () => Promise<T>): Promise<T> {
		return waitFor(processKey, what, () => awaitsItself(this.sessionKey));
	}

	/**
	 * Ends the run, even if it waits: the signals of model and tools fire, and finished results are kept. Does nothing if
	 * the run has ended.
	 */
	interrupt(): void {
		if (this.#run !== undefined) this.#run.stop("interrupt");
		else this.#endWait?.();
	}

	/** The run waits from now on; `end` ends it. @internal */
	waits(end: () => void): void {
		this.#run = undefined;
		this.#endWait = end;
	}

	/** Stops working on the run and leaves it open, for `resume` here or in another process. */
	suspend(): void {
		this.#run?.stop("suspend");
	}

	/** Seq of the last entry before this part of the run; undefined before it began. @internal */
	get from(): number | undefined {
		return this.#from;
	}

	/** Adds a watcher from the very beginning. Call this before the run begins. @internal */
	observe(watcher: Watcher): void {
		this.#observer = watcher;
	}

	/** Adds an observer to the run in progress. The run does not wait for it. @internal */
	lookOn(looker: Pick<Watcher, "notify">): void {
		for (const event of this.#early ?? []) looker.notify(event);
		this.#run?.watch({ notify: (event) => looker.notify(event) });
		this.detach();
	}

	/** The number of events that the run has emitted so far. @internal */
	get eventCount(): number {
		return this.#events.count;
	}

	/** An overlay was accepted for this turn. @internal */
	overlayAccepted(): void {
		this.#events.overlayAccepted();
	}

	/** Attaches this handle to the run that is about to be driven. @internal */
	attach(run: Run, unread: UnreadRuns, onEvent?: (event: AgentEvent) => unknown): void {
		this.#run = run;
		this.#from = run.state.seq;
		if (this.#observer !== undefined) run.watch(this.#observer);
		this.#processKey ??= run.processKey;
		this.#events.unread = unread;
		this.#events.handle = this;
		this.#events.onEvent = onEvent;
		run.watch({
			notify: (event) => this.#emit(event),
			passed: (event) => this.#events.passed(event),
			// A watcher may send a message at a boundary.
			mayHold: () => this.#queues.length > 0 || this.#events.mayHold(),
			...(onEvent === undefined ? {} : { settled: () => this.#events.settled() }),
		});
	}

	/** The drive has ended. @internal */
	concluded(run: Run, outcome: DriveOutcome, frame: TurnFrame): void {
		this.#run = undefined;
		const { onComplete, onError } = run.agent.hooks;
		const isAlone = (onComplete ?? onError) === undefined && frame.policy.around.length === 0;
		const isCompleted = outcome.kind === "ended" && outcome.outcome === "completed";
		// Most runs end without any further hooks.
		if (isAlone && isCompleted) this.#settle(runResult(run, outcome, { turn: turnOf(run) }));
		else if (isAlone) this.#settle(endOf(run, outcome, frame));
		else this.#settle(withinCall(this, () => endOf(run, outcome, frame)));
	}

	/**
	 * Follows a run in progress that belongs to another handle, without ever holding it. Returns a function that stops
	 * following. @internal
	 */
	follow(run: Run, other: AgentRun): () => void {
		this.#run = run;
		this.#from = run.state.seq;
		const leave = [run.watch({ notify: (event) => this.#emit(event) })];
		if (this.#observer !== undefined) leave.push(run.watch(this.#observer));
		void other.#result.then((result) => {
			this.waits(() => other.interrupt());
			this.#settle(result);
		});
		return () => {
			for (const each of leave) each();
		};
	}

	/** The run was not started by this process and will not be. @internal */
	abandon(
		reason: "suspended" | "lease_lost" | "journal_failed" | "killed" | "parked",
		error: unknown,
		state: AgentState,
	): void {
		const data = errorData(error);
		const { runId } = this;
		const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
		if (reason === "killed") {
			this.#emit({
				type: "run_end",
				at: 0,
				seq: 0,
				sub: 0,
				runId,
				outcome: reason,
				error: data,
				usage,
				steps: 0,
			});
		} else this.#emit({ type: "run_suspended", seq: 0, sub: 0, runId, reason, error: data });
		this.#settle({
			runId,
			outcome: reason === "killed" ? reason : "suspended",
			text: "",
			state,
			error: data,
			usage,
			steps: 0,
		});
	}

	#emit(event: RunEvent): void {
		this.#events.notify(event);
		for (const queue of this.#queues) queue.push(event);
		if (this.#early?.at(-1)?.type === "step_start") this.#early = undefined;
		this.#early?.push(event);
		if (event.type !== "run_end" && event.type !== "run_suspended") return;
		this.#over = true;
		for (const queue of this.#queues) queue.end();
		this.#queues = [];
	}
}

async function endOf(run: Run, outcome: DriveOutcome, frame: TurnFrame): Promise<RunResult> {
	const turnSoFar = turnOf(run);
	let error: ErrorData | undefined;
	let given: GenerateResult | undefined;
	try {
		const left = await leftWith(run, outcome, () =>
			frame.leave(outcome, () => resultOf(run, outcome, turnSoFar)),
		);
		const result = await notifyComplete(run, outcome, left);
		// The result after policy. Without policy, or without an answer, there is nothing else to return.
		if (frame.policy.around.length > 0 || run.left === left) given = result;
	} catch (thrown) {
		const isMeant = outcome.kind === "ended" ? outcome.outcome === "aborted" : outcome.reason === "waiting";
		// The error is in the journal as policy left it; a refusal is returned unchanged.
		const recorded = run.admission === undefined ? undefined : run.state.run?.error;
		if (!isMeant)
			error = recorded?.code === "policy_refused" ? errorData(thrown) : (recorded ?? errorData(thrown));
	}
	return runResult(run, outcome, { turn: turnSoFar, given, error });
}

/** Returns the result of a run. Policy saw it when the run's end was recorded, or sees it now. */
function leftWith(
	run: Run,
	outcome: DriveOutcome,
	leave: () => Promise<GenerateResult>,
): Promise<GenerateResult> | GenerateResult {
	if (run.left === undefined || outcome.kind !== "ended" || outcome.outcome === "aborted") return leave();
	if (run.left === "asked") throw outcome.error;
	return run.left;
}

/** Returns the outcome of a run. `given` is the result as middleware left it. */
function runResult(
	run: Run,
	outcome: DriveOutcome,
	{
		turn,
		given,
		error,
	}: { turn: Turn | undefined; given?: GenerateResult | undefined; error?: ErrorData | undefined },
): RunResult {
	const state = run.state.run;
	const isCompleted = outcome.kind === "ended" && outcome.outcome === "completed";
	const output = isCompleted ? (given === undefined ? outputOf(run) : given.output) : undefined;
	const last = given?.turn ?? turn;
	const partial = given === undefined ? state?.partial : undefined;
	const result: Mutable<RunResult> = {
		runId: run.runId,
		outcome: outcome.kind === "ended" ? outcome.outcome : "suspended",
		text: (partial ?? last?.response)?.text ?? "",
		state: given?.state ?? run.state.agent,
		usage: state?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
		steps: state?.step ?? 0,
	};
	if (last !== undefined) {
		result.turn = last;
		if (last.stopReason !== undefined && partial === undefined) result.stopReason = last.stopReason;
	}
	if (output !== undefined) result.output = output;
	if (error !== undefined) result.error = error;
	if (state !== undefined && state.unpriced === 0) result.cost = state.cost;
	if (outcome.kind === "left" && outcome.reason === "waiting") {
		result.outcome = "waiting";
		result.pending = pendingCalls(run.state);
		const wait = state && waitOf(state);
		if (wait !== undefined) result.wait = wait;
	}
	return withCacheReport(result, state?.lastCycle);
}

function joinEvents(last: RunEvent, next: RunEvent): RunEvent | undefined {
	return last.type === "model" && next.type === "model" ? joinModelEvents(last, next) : undefined;
}

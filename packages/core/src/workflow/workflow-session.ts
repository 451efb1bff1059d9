// A session of a workflow, and its runs.
import { HoldfastError, HoldfastTypeError, isHoldfastError, isThenable } from "@holdfast/upp";
import { type ErrorData, type RunEndEvent, workflowStateKey } from "../facts/index.ts";
import type { AgentRun, RunResult, Session } from "../sessions/index.ts";
import { eventText, inputText } from "./event-message.ts";
import { storableOf } from "./flow-checks.ts";

/** How a run of a workflow ended. */
export interface WorkflowResult<Output = unknown> {
	readonly runId: string;
	/**
	 * `suspended`: this process no longer works on the run: the workflow was closed here, or the run is parked with this
	 * `error`, for example `code_diverged`.
	 */
	readonly outcome: "completed" | "error" | "aborted" | "killed" | "suspended";
	/** The result of the function; present if the run completed and the function returned one. */
	readonly output?: Output;
	/** Why the run failed. */
	readonly error?: ErrorData;
}

/** A run of a workflow. */
export class WorkflowRun<Output = unknown> {
	/** Identifies the run, also after a restart. */
	readonly runId: string;
	/** The key of its session. */
	readonly sessionKey: string;
	/** The run as an agent's run, for its events. */
	readonly run: AgentRun;
	readonly #session: Session;

	/** @internal */
	constructor(run: AgentRun, session: Session) {
		this.run = run;
		this.runId = run.runId;
		this.sessionKey = run.sessionKey;
		this.#session = session;
	}

	/**
	 * Resolves when the run has ended, in this process or in another one, however long it waits in between. A failed run
	 * resolves with its error. Waits continue in this process only while it lives; `supervise()` of any process continues
	 * those of dead ones.
	 */
	async result(): Promise<WorkflowResult<Output>> {
		const result = await this.run.result();
		const isOpen = result.outcome === "waiting" || result.error?.code === "lease_lost";
		return (isOpen ? resultOf(await this.#end()) : resultOf(result)) as WorkflowResult<Output>;
	}

	async #end(): Promise<RunEndEvent> {
		for await (const { event } of this.#session.follow({ until: "never" })) {
			const { type, runId } = event as RunEndEvent;
			if (type === "run_end" && runId === this.runId) return event as RunEndEvent;
		}
		throw new HoldfastError(
			"session_not_found",
			`The session ${JSON.stringify(this.sessionKey)} was deleted before its run ended.`,
		);
	}
}

function resultOf({
	runId,
	outcome,
	output,
	error,
}: Pick<RunResult, "runId"> &
	Partial<Pick<RunResult, "error" | "output">> & { readonly outcome: string }): WorkflowResult {
	return {
		runId,
		outcome: outcome as WorkflowResult["outcome"],
		...(output === undefined ? {} : { output }),
		...(error === undefined ? {} : { error }),
	};
}

/** Options of an input or event of a workflow. */
export interface WorkflowSendOptions
	extends Pick<NonNullable<Parameters<Session["steer"]>[1]>, "caller" | "dedupeKey"> {}

/** A session of a workflow. It has one open run at a time. */
export class WorkflowSession<Input = unknown, Output = unknown> {
	/** The key of the session. */
	readonly key: string;
	/** The session as an agent's session: its events, its history, answers, `stop`, `kill`, `delete`. */
	readonly session: Session;

	/** @internal */
	constructor(session: Session) {
		this.session = session;
		this.key = session.key;
	}

	/**
	 * Starts a run. Resolves once the input is durable. If a run is open, the new one starts when that one has ended.
	 *
	 * Rejects with `invalid_input` if the schema refuses the input or it is not JSON, and like `Session.send`.
	 */
	async send(input: Input, options: WorkflowSendOptions = {}): Promise<WorkflowRun<Output>> {
		const run = await this.session.send(inputText(storable(input)), options);
		run.detach();
		return new WorkflowRun(run as AgentRun, this.session);
	}

	/**
	 * Sends an event to the open run: see `flow.event`. Resolves once it is durable. If the run ends before it takes the
	 * event, the next run of the session receives it. With a `dedupeKey`, the session accepts the event once: later calls
	 * with the key resolve without sending it again, so a step of another workflow can repeat the call after a crash.
	 *
	 * Rejects with `workflow_not_running` if no run is open, `workflow_events_full` if the run has 1,000 events that its code
	 * has not waited for, `invalid_input` if the payload is not JSON, and like `Session.steer`.
	 */
	async signal(
		event: string,
		payload?: unknown,
		options: Pick<WorkflowSendOptions, "dedupeKey"> = {},
	): Promise<void> {
		if (typeof event !== "string" || event === "")
			throw new HoldfastTypeError("invalid_argument", "signal(event) takes a non-empty string.");
		const text = eventText(event, storable(payload));
		try {
			(await this.session.steer(text, options)).detach();
		} catch (error) {
			const isKnown =
				options.dedupeKey !== undefined && isHoldfastError(error) && error.code === "duplicate_input";
			if (!isKnown) throw error;
		}
	}

	/**
	 * Returns the value that the code published last with `flow.state()`; undefined without any. Works in any process, and
	 * after the run has ended. It is also the member `workflow` of the metadata of the session's state.
	 *
	 * Rejects with `journal_failed` and `agent_closed`.
	 */
	async state<State = unknown>(): Promise<State | undefined> {
		return (await this.session.state()).metadata[workflowStateKey] as State | undefined;
	}

	/**
	 * Continues a run that is parked: because its code no longer matched its record, or as described for `Session.release`.
	 * Deploy the matching code first. Resolves with null if no run is open.
	 *
	 * Rejects like `Session.release`.
	 */
	async release(): Promise<WorkflowRun<Output> | null> {
		const run = await this.session.release();
		run?.detach();
		return run === null ? null : new WorkflowRun(run as AgentRun, this.session);
	}

	/** Ends the open run: its steps are aborted, and nothing is undone. Resolves with false without an open run. */
	stop(): Promise<boolean> {
		return this.session.stop();
	}
}

function storable(value: unknown): unknown {
	if (isThenable(value)) throw new HoldfastError("invalid_input", "The input is a promise: await it first.");
	return storableOf(value, "The input", "invalid_input");
}

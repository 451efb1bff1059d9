// The context that a running tool receives about its call. Rarely used parts are computed on access.
import { HoldfastError, type ToolCall } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { PendingWait, Spent, WaitingChild } from "../facts/index.ts";
import type { AgentPolicy, HasCallersPolicy, ModelAnswer } from "../policy/index.ts";
import type { Approval, EngineTool, LoadableTools, RetryPolicy, ToolContext } from "../tools/index.ts";
import type { EngineModel } from "./engine-agent.ts";
import { Loader } from "./loaded-tools.ts";
import { callWaitsForModel } from "./model-wait.ts";
import { type OwnModelCall, ownModelCall } from "./own-model-call.ts";
import type { Run } from "./run.ts";
import { isSubagentEvent } from "./subagent-events.ts";

/** A call that is about to run. */
export interface StartedCall {
	readonly call: ToolCall;
	readonly attempt: number;
	readonly idempotencyKey: string;
	readonly approval?: Approval | undefined;
	/** The wait for a time that preceded this start, if any. */
	readonly waited?: PendingWait | undefined;
}

/** The waits of a running sub-agent. */
export type ShownChild = Omit<WaitingChild, "callId">;

/** A call's round, reduced to the part that shows waits of sub-agents. */
export interface ShowsChildren {
	/** The call's sub-agent is still running and shows these waiting calls; undefined when none waits any longer. */
	childShows(callId: string, child: ShownChild | undefined): void;
}

export class CallContext implements ToolContext, HasCallersPolicy {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly signal: AbortSignal;
	readonly attempt: number;
	readonly idempotencyKey: string;
	readonly retryPolicy: RetryPolicy;
	readonly step: number;
	readonly agentId: string;
	readonly runId: string;
	declare readonly approval?: Approval;
	declare readonly sessionKey?: string;
	declare readonly caller?: Caller;
	declare readonly parentContext?: ToolContext;
	readonly parentModel: unknown;
	readonly parentConfig: unknown;
	/** Computed on access. */
	declare readonly stateId: string;
	/** Computed on access. */
	declare readonly messages: readonly unknown[];
	/** Computed on access. Set if the call can load tools. */
	declare readonly loadable?: LoadableTools;
	readonly #run: Run;
	readonly #round: ShowsChildren;
	readonly #waited: PendingWait | undefined;
	#over = false;
	/** The number of delta characters. */
	#streamed = 0;
	#spent: Spent | undefined;
	#loader: Loader | undefined;
	// Defined as initialisers: V8 allocates a function that is assigned to a member among old objects, and everything
	// that it references then outlives the young-generation garbage collections.
	readonly emit = (delta: string): Promise<unknown> | undefined => {
		const { toolCallId, step } = this;
		const run = this.#run;
		if (this.#over || run.stopReason !== undefined) return undefined;
		const { perCall, perSession } = run.agent.maxStreamed;
		const most = this.#streamed + delta.length;
		if (most > perCall) throw tooMuchStreamed(this.toolName, "call", perCall);
		if (run.toldMore(delta.length) > perSession) throw tooMuchStreamed(this.toolName, "session", perSession);
		this.#streamed = most;
		// Output that may be removed from the result is never emitted.
		if (!run.watched || run.interceptors.withholdsOutput) return run.agent.fairness.pause();
		const event = { type: "tool_delta", step, toolCallId, delta } as const;
		const emitted =
			run.admission === undefined ? run.emit({ ...event, ...run.at }) : run.admission.emit(event);
		const heard = emitted instanceof Promise ? emitted.then(() => run.ready("heard")) : run.ready("heard");
		return heard ?? run.agent.fairness.pause();
	};
	readonly onSubagentEvent = (event: unknown): void => {
		const { toolCallId, step } = this;
		const run = this.#run;
		if (this.#over) return;
		if (isSubagentEvent(event)) run.traces.notify(event);
		if (!run.watched) return;
		const nested = { type: "nested", step, toolCallId, event } as const;
		const emitted =
			run.admission === undefined ? run.emit({ ...nested, ...run.at }) : run.admission.emit(nested);
		if (emitted instanceof Promise) emitted.catch(() => {}); // a rejected event is not emitted, and the tool is not notified
	};

	static readonly #stateId: PropertyDescriptor & ThisType<CallContext> = {
		get() {
			return this.#run.state.agent.id;
		},
		enumerable: true,
	};
	static readonly #messages: PropertyDescriptor & ThisType<CallContext> = {
		get() {
			return this.#run.state.agent.messages;
		},
		enumerable: true,
	};

	static readonly #loadable: PropertyDescriptor & ThisType<CallContext> = {
		get() {
			const tools = this.#run.agent.loadable?.get(this.toolName) ?? [];
			this.#loader ??= new Loader(this.toolName, tools);
			return this.#loader;
		},
		enumerable: true,
	};

	/** `expiring` is aborted when the call's time limit is reached, or its result is no longer needed. */
	constructor(
		run: Run,
		step: number,
		tool: Pick<EngineTool, "retryPolicy">,
		started: StartedCall,
		round: ShowsChildren,
		expiring?: AbortSignal | undefined,
	) {
		const { call, attempt, idempotencyKey, approval } = started;
		const { toolCallId } = call;
		this.#run = run;
		this.#round = round;
		this.#waited = started.waited;
		this.toolCallId = toolCallId;
		this.toolName = call.toolName;
		this.signal = expiring === undefined ? run.signal : AbortSignal.any([run.signal, expiring]);
		this.attempt = attempt;
		this.idempotencyKey = idempotencyKey;
		this.retryPolicy = tool.retryPolicy;
		if (approval !== undefined) this.approval = approval;
		this.step = step;
		this.agentId = run.agent.id;
		this.runId = run.runId;
		if (run.sessionKey !== undefined) this.sessionKey = run.sessionKey;
		const { caller } = run;
		if (caller !== undefined) this.caller = caller;
		if (run.parentContext !== undefined) this.parentContext = run.parentContext;
		this.parentModel = run.agent.toolContext.parentModel;
		this.parentConfig = run.agent.toolContext.parentConfig;
		// Own members instead of class members: a tool may pass on a copy, `{ ...context }`.
		Object.defineProperty(this, "stateId", CallContext.#stateId);
		Object.defineProperty(this, "messages", CallContext.#messages);
		if (run.agent.loadable?.has(call.toolName) === true)
			Object.defineProperty(this, "loadable", CallContext.#loadable);
	}

	/** Records the usage of a sub-agent. Called by tools of sessions; not part of the context that user tools see. */
	spend(spent: Spent): void {
		this.#spent = spent;
	}

	/** Reports the waits of the call's sub-agent while it runs. Called by tools of sessions, like `spend`. */
	childShows(child: ShownChild | undefined): void {
		if (!this.#over) this.#round.childShows(this.toolCallId, child);
	}

	/**
	 * Returns the error that makes the call wait for a provider that its tool called. Called by tools of threads, like
	 * `spend`.
	 */
	waitForModel(error: unknown): Error | undefined {
		return callWaitsForModel(this.#run, error, this.#waited);
	}

	/** For a sub-agent that works under it. Called by sub-agent tools, like `spend`. */
	callersPolicy(): AgentPolicy | undefined {
		return this.#run.interceptors.agentPolicy;
	}

	/** Makes a model call of the code's own. Called by tools of workflows, like `spend`. */
	ownModelCall(...call: OwnModelCall): Promise<ModelAnswer> {
		return ownModelCall(this.#run, this, call);
	}

	/** The names of the tools that the call has loaded. */
	get loads(): readonly string[] | undefined {
		return this.#loader?.loaded;
	}

	get spent(): Spent | undefined {
		return this.#spent;
	}

	/** The number of delta characters so far. */
	get streamed(): number {
		return this.#streamed;
	}

	/** The call has its result: later output of its tool is ignored. */
	close(): void {
		this.#over = true;
	}
}

/** Returns the context that a model function passes on to its own tools. The function's calls are not recorded one by one. */
export function contextOfFunction(
	run: Run,
	{ model }: Pick<EngineModel, "model">,
	step: number,
): ToolContext {
	const call = { toolCallId: `${run.runId}.${step}.model`, toolName: model.modelId, arguments: {} };
	const { attempt = 1 } = run.state.run ?? {};
	const started = { call, attempt, idempotencyKey: call.toolCallId };
	return new CallContext(run, step, { retryPolicy: "manual-recovery" }, started, { childShows() {} });
}

function tooMuchStreamed(tool: string, limit: "call" | "session", most: number): HoldfastError {
	const where = limit === "call" ? "in one call" : "in this session";
	const option = limit === "call" ? "perCall" : "perSession";
	return new HoldfastError(
		"too_much_streamed",
		`The tool ${tool} has streamed more than ${most} characters ${where}, the limit set by \`maxStreamed.${option}\`. Write larger output to a file, and return its path.`,
		{ data: { tool, limit } },
	);
}

// What an agent changes for a single model call. It is asked before each call, including repeated calls of a step after
// a crash or a failure. The answer records what was used, so later code does not ask again (keeps I2).
import type { Message, System, TokenUsage } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { PreparedStep } from "../facts/index.ts";
import type { AgentState } from "../state/index.ts";
import type { EngineTool } from "../tools/index.ts";
import type { ModelAction } from "./action.ts";
import type { EngineModel } from "./engine-agent.ts";
import { type SentTools, sentTools } from "./loaded-tools.ts";
import type { Run } from "./run.ts";
import { systemOf } from "./system-request.ts";
import { untilAnswered } from "./until-answered.ts";

/** The model call that `prepareStep` is asked about. Members that take time to compute are computed when they are read. */
export interface StepToPrepare {
	/** Number of the step within the run, from 1; 0 for a call before the first, such as one for a plan. */
	readonly step: number;
	/** The purpose of the call: `act`, `reason`, `plan` or the strategy's own tag. */
	readonly tag: string;
	/** Names of the tools that the call can use, in order. Empty if the strategy withholds them. */
	readonly tools: readonly string[];
	/** The history, before middleware and plugins change what the model sees of it. */
	readonly messages: readonly Message[];
	/** The tokens that the run has used so far. */
	readonly usage: TokenUsage;
	/** The conversation so far. */
	readonly state: AgentState;
	/** Fires when the run is stopped. */
	readonly signal: AbortSignal;
	readonly runId: string;
	/** Absent in calls without a session. */
	readonly sessionKey?: string | undefined;
	/** Who requested the run, if known. */
	readonly caller?: Caller | undefined;
}

/** The changes to one model call, in the form that the engine uses. */
export interface EngineStep {
	readonly model?: EngineModel | undefined;
	readonly instructions?: System | undefined;
	/** Added to the parameters of the request. */
	readonly params?: Readonly<Record<string, unknown>> | undefined;
	readonly tools?: readonly EngineTool[] | undefined;
	/** Identifies the request's beginning, if it is not that of the run. Recorded with the answer. */
	readonly fingerprint?: string | undefined;
	/** Recorded with the answer. */
	readonly prepared: PreparedStep;
}

/** The beginning of a run's requests. */
export interface RunHead {
	readonly system: System;
	readonly fingerprint: string;
}

class AboutStep implements StepToPrepare {
	readonly #run: Run;
	readonly #action: ModelAction;
	readonly #tools: SentTools | undefined;
	readonly step: number;

	constructor(run: Run, action: ModelAction, step: number, tools: SentTools | undefined) {
		this.#run = run;
		this.#tools = tools;
		this.#action = action;
		this.step = step;
	}

	get tag(): string {
		return this.#action.tag;
	}

	get tools(): readonly string[] {
		return (this.#tools?.list ?? []).map(({ name }) => name);
	}

	get messages(): readonly Message[] {
		return this.#run.state.context.from(0);
	}

	get usage(): TokenUsage {
		return this.#run.state.run?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
	}

	get state(): AgentState {
		return this.#run.state.agent;
	}

	get signal(): AbortSignal {
		return this.#run.signal;
	}

	get runId(): string {
		return this.#run.runId;
	}

	get sessionKey(): string | undefined {
		return this.#run.sessionKey;
	}

	get caller(): Caller | undefined {
		return this.#run.caller;
	}
}

/** Returns the agent's changes to a model call; undefined without any. Rejects with `invalid_step`, or as the agent does. */
export function prepareStep(
	run: Run,
	prepare: NonNullable<Run["agent"]["prepare"]>,
	action: ModelAction,
	step: number,
): Promise<EngineStep | undefined> {
	const tools = action.tools === "withheld" ? undefined : sentTools(run);
	const system = systemOf(run);
	const fingerprint = run.state.run?.fingerprint ?? "";
	const own = system === undefined ? undefined : { system, fingerprint };
	return untilAnswered(run, () => prepare(new AboutStep(run, action, step, tools), tools, own));
}

// Tries a model or a tool of a session's agent outside of any run: nothing is recorded, and the session does not change.
// Middleware, plugins' hooks and the strategy do not take part.
import {
	type AssistantMessage,
	HoldfastError,
	type Message,
	type System,
	type TokenUsage,
} from "@holdfast/upp";
import { modelIdOf, type TurnOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { EngineAgent } from "../engine/index.ts";
import { costOf } from "../facts/index.ts";
import { workOf } from "../subagents/index.ts";
import { type AnyTool, type EngineTool, runTool, type ToolContext, withinItsTime } from "../tools/index.ts";
import { agentInfo, type SessionAgentInfo } from "./session-fork.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { TurnAgents } from "./turn-agents.ts";

/** A request to a model that is tried. */
export interface TrialRequest {
	/** The conversation to send. */
	readonly messages: readonly Message[];
	/** Name of a model. Default: that of the session. */
	readonly model?: string | undefined;
	/** Instructions. Default: those of the session's next turn; none if a function returns them for each run. */
	readonly systemPrompt?: System | undefined;
	/** Default: that of the session. */
	readonly temperature?: number | undefined;
	/** Maximum number of output tokens. Default: that of the session. */
	readonly maxTokens?: number | undefined;
	/** Names of the tools that the model is sent; their calls are not executed. Default: those that are always sent. */
	readonly tools?: readonly string[] | undefined;
	/** Cancels the request. */
	readonly signal: AbortSignal;
}

/** The answer of a model that was tried. */
export interface TrialAnswer {
	/** The model that answered. */
	readonly modelId: string;
	/** The answer, with its tool calls, which are not executed. */
	readonly message: AssistantMessage;
	/** Tokens of the call. */
	readonly usage: TokenUsage;
	/** Why the model stopped. */
	readonly stopReason: string;
	/** Milliseconds. */
	readonly duration: number;
	/** US dollars; absent if the model's prices are unknown. */
	readonly cost?: number;
}

/** The result of a tool that was tried. */
export interface TrialResult {
	/** The result that a model would receive. */
	readonly result: unknown;
	/** Whether the tool failed. */
	readonly isError: boolean;
	/** What it streamed: the first 100,000 characters. */
	readonly streamed: string;
	/** Milliseconds. */
	readonly duration: number;
}

/** The agent of a session's next turn, to be tried. */
export interface SessionTrial {
	/** The agent of the next turn. */
	readonly info: SessionAgentInfo;
	/**
	 * Sends one request to a model. Rejects with `unknown_model`, with `trial_unsupported` for a model that is a function
	 * or an instance, and with the errors of the provider.
	 */
	ask(request: TrialRequest): Promise<TrialAnswer>;
	/**
	 * Runs the function of a tool once, with its real effects. Rejects with `tool_not_found`, `invalid_input`, and
	 * `trial_unsupported` for a remote tool, a sub-agent or a provider's tool.
	 */
	call(name: string, input: unknown, signal: AbortSignal): Promise<TrialResult>;
}

/** The parts of a trial. */
export interface TrialParts {
	readonly agents: TurnAgents;
	readonly setup: SessionSetup;
	readonly model: TurnOptions["model"];
	readonly own: TurnOptions | undefined;
	/** The options of the next turn. */
	readonly options: TurnOptions;
	readonly engine: EngineAgent;
	readonly caller: Caller | undefined;
	readonly newId: () => string;
}

/** Maximum number of streamed characters that are kept. */
const mostStreamed = 100_000;

/** Creates the trial of a session. */
export function sessionTrial(parts: TrialParts): SessionTrial {
	const { options, engine } = parts;
	return {
		info: { model: modelIdOf(options.model), ...agentInfo(engine), params: { ...options.params } },
		ask: (request) => ask(parts, request),
		call: (name, input, signal) => call(parts, name, input, signal),
	};
}

async function ask(
	{ agents, setup, model, own, engine }: TrialParts,
	{ messages, model: name, systemPrompt, temperature, maxTokens, tools, signal }: TrialRequest,
): Promise<TrialAnswer> {
	const changed = {
		...setup,
		...(name === undefined ? {} : { model: name }),
		...(temperature === undefined ? {} : { temperature }),
		...(maxTokens === undefined ? {} : { maxTokens }),
	};
	const options = await agents.of(changed, { model: name === undefined ? model : undefined, own });
	const bound = agents.bound(options, systemPrompt ?? engine.system);
	if (bound.isFunction === true)
		throw unsupported("The model is a function or an instance, which only runs can call");
	const wanted = tools && new Set(tools);
	const offered =
		wanted === undefined
			? engine.toolList
			: [...engine.tools.values()].filter(({ name: of }) => wanted.has(of));
	const { clock } = engine.ports;
	const started = clock.monotonic();
	const response = await bound.model.complete(bound.request(messages, { tools: offered, signal }));
	const cost = bound.price && costOf(response.usage, bound.price);
	return {
		modelId: bound.model.modelId,
		message: response.message,
		usage: response.usage,
		stopReason: response.stopReason,
		duration: clock.monotonic() - started,
		...(cost === undefined ? {} : { cost }),
	};
}

async function call(
	{ engine, caller, newId }: TrialParts,
	name: string,
	given: unknown,
	signal: AbortSignal,
): Promise<TrialResult> {
	const tool = engine.tools.get(name);
	if (tool === undefined)
		throw new HoldfastError("tool_not_found", `The agent has no tool ${JSON.stringify(name)}.`);
	checkCallable(tool);
	const validated = await tool.validate(given);
	if (!validated.ok)
		throw new HoldfastError("invalid_input", `The input does not fit the tool: ${validated.message}`);
	const { clock, timers } = engine.ports;
	const ending = new AbortController();
	const id = newId();
	let streamed = "";
	const emit = (delta: string): void => {
		if (streamed.length < mostStreamed) streamed = (streamed + delta).slice(0, mostStreamed);
	};
	const context: ToolContext = {
		...{ toolCallId: id, toolName: name, attempt: 1, idempotencyKey: id, retryPolicy: tool.retryPolicy },
		...{ step: 1, agentId: engine.id, stateId: id, runId: id, messages: [], emit, onSubagentEvent: () => {} },
		...{ signal: AbortSignal.any([signal, ending.signal]), ...engine.toolContext },
		...(caller === undefined ? {} : { caller }),
	};
	const started = clock.monotonic();
	const ran = runTool(tool, validated.value, context, emit);
	const { output, isError } = await withinItsTime(tool, ran, timers, {
		stopped: signal,
		expire: (reason) => ending.abort(reason),
	});
	return { result: output, isError, streamed, duration: clock.monotonic() - started };
}

function checkCallable(tool: EngineTool): void {
	const named = `The tool ${JSON.stringify(tool.name)}`;
	if (tool.kind === "remote") throw unsupported(`${named} is remote: it has no function here`);
	if (tool.provider !== undefined) throw unsupported(`${named} belongs to the model's provider`);
	if (workOf(tool.source as AnyTool) !== undefined || tool.name.startsWith("delegate_to_"))
		throw unsupported(`${named} starts a sub-agent, which needs a session`);
}

function unsupported(why: string): HoldfastError {
	return new HoldfastError(
		"trial_unsupported",
		`${why}. Send a message to a session or a fork of it instead.`,
	);
}

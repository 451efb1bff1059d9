// A sub-agent as a tool with an explicit schema, which emits its activity live to its parent (keeps I8).

import {
	checkOptions,
	HoldfastTypeError,
	type JSONSchema,
	messageOf,
	optionNames,
	uuid,
} from "@holdfast/upp";
import { type AgentStreamEvent, executionTrace } from "../engine/index.ts";
import { type AgentPolicy, callersPolicy, type HasCallersPolicy } from "../policy/index.ts";
import type { SessionAgent } from "../sessions/index.ts";
import { AgentState, type GenerateResult } from "../state/index.ts";
import { type ExecutionStrategy, isDecider } from "../strategies/index.ts";
import { describeWork } from "../subagents/index.ts";
import type { SubagentEvent, ToolContext, ToolOptions } from "../tools/index.ts";
import { type Agent, agent as makeAgent } from "./agent.ts";
import type { SubAgentCallOptions } from "./agent-call.ts";
import { sessionAgent } from "./agent-sessions.ts";
import { underCaller } from "./under-caller.ts";
import { watchProgress } from "./watch-progress.ts";

const createSubAgentToolNames = optionNames<CreateSubAgentToolOptions>({
	agent: true,
	name: "text",
	description: "text",
	parameters: true,
	subagentType: "text",
	buildPrompt: "function",
	stream: "flag",
	policy: ["own", "caller"],
	sequential: "flag",
	dependsOn: "list",
	loadedBy: "text",
	retryPolicy: ["pure", "idempotent", "manual-recovery"],
	maxModelCharacters: "number",
	needsApproval: true,
	editableApproval: "flag",
	timeoutMs: "number",
	readOn: "function",
	reconcile: "function",
});

/** Options of a sub-agent tool. The schema is independent of the agent. */
export interface CreateSubAgentToolOptions<Params = Record<string, unknown>> extends ToolOptions {
	/** The agent that does the work. If it has no model, it uses its caller's. */
	readonly agent: Agent;
	/** The tool's name. */
	readonly name: string;
	/** Explains to the model when to use the sub-agent. */
	readonly description: string;
	/** The schema of the arguments that the model gives. */
	readonly parameters: JSONSchema;
	/** The name of the sub-agent's kind in events and traces. Default: the tool's name. */
	readonly subagentType?: string;
	/**
	 * Builds the task for the sub-agent. Default: `params.prompt`, `params.task` or `params.query`, otherwise the
	 * parameters as JSON.
	 */
	buildPrompt?(params: Params): string;
	/**
	 * Whether to emit the sub-agent's own events. Default true. If false, only its start and its end are emitted, and its
	 * model is asked for whole answers.
	 */
	readonly stream?: boolean;
	/**
	 * The policy that the sub-agent works under. `own` (the default): the sub-agent's `middleware` and `plugins` alone.
	 * `caller`: in addition, and first, the caller's decisions about tool calls, its replacements of results, and its
	 * admission of what is recorded, such as redaction. The caller's stages around runs, steps and model calls are not
	 * applied.
	 */
	readonly policy?: "own" | "caller";
}

/** The function of a sub-agent tool. */
export type SubAgentToolRun<Params = Record<string, unknown>> = (
	params: Params,
	context?: Partial<ToolContext>,
) => Promise<string>;

/** A tool that runs a sub-agent. */
export interface SubAgentTool<Params = Record<string, unknown>> extends ToolOptions {
	/** The name by which the model calls it. */
	readonly name: string;
	/** Explains to the model when to use the sub-agent. */
	readonly description: string;
	/** The schema of the arguments. */
	readonly parameters: JSONSchema;
	/** Runs the sub-agent, and returns its answer. */
	readonly run: SubAgentToolRun<Params>;
}

/**
 * Creates a tool that runs an agent and returns its answer. The parent's stream includes its events, the parent's state
 * keeps its trace, and cancelling the parent cancels it.
 *
 * @throws HoldfastError `invalid_option` if the agent, name, description or parameters are missing.
 * @example
 * ```ts
 * import { agent, createSubAgentTool } from "holdfast";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const explorer = agent({ model: scriptedModel(["Found it in app.ts."]) });
 * const explore = createSubAgentTool({
 * 	agent: explorer,
 * 	name: "explore",
 * 	description: "Explores the code base.",
 * 	parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
 * });
 * console.log(await explore.run({ query: "Where is the entry?" })); // Found it in app.ts.
 * ```
 */
export function createSubAgentTool<Params = Record<string, unknown>>(
	options: CreateSubAgentToolOptions<Params>,
): SubAgentTool<Params> {
	checkOptions(options, createSubAgentToolNames, { of: "createSubAgentTool()", required: true });
	const {
		agent,
		name,
		description,
		parameters,
		subagentType = name,
		buildPrompt = defaultPrompt,
		stream = true,
		policy = "own",
		...toolOptions
	} = options;
	for (const [option, value] of Object.entries({ name, description })) {
		if (typeof value !== "string" || value === "")
			throw new HoldfastTypeError("invalid_option", `createSubAgentTool needs a non-empty \`${option}\`.`);
	}
	if (typeof parameters !== "object" || parameters === null) {
		throw new HoldfastTypeError(
			"invalid_option",
			"createSubAgentTool needs `parameters`: a schema is never derived from an agent.",
		);
	}
	if (typeof agent?.id !== "string")
		throw new HoldfastTypeError("invalid_option", "createSubAgentTool needs an agent as the option `agent`.");
	const run: SubAgentToolRun<Params> = async (params, context = {}) => {
		const work = { agent, subagentType, prompt: buildPrompt(params), streams: stream, policy };
		return runSubAgent(work, context);
	};
	describeWork(run, {
		subagentType,
		agentId: agent.id,
		streams: stream,
		promptOf: (params) => buildPrompt(params as Params),
		agentFor: ({ model, config, policed }) => {
			const worker = withModel(agent, { parentModel: model, parentConfig: config });
			const canRun =
				worker.model !== undefined && typeof worker.model !== "function" && isSessionAgent(worker as object);
			if (!canRun) return undefined;
			const inSession = (worker as unknown as { [sessionAgent]: SessionAgent })[sessionAgent];
			return policy === "own" ? inSession : underCaller(inSession, agent, policed);
		},
	});
	return { ...toolOptions, name, description, parameters, run };
}

interface SubAgentWork {
	readonly agent: Agent;
	readonly subagentType: string;
	readonly prompt: string;
	/** Whether the sub-agent's own events are emitted. */
	readonly streams: boolean;
	readonly policy: "own" | "caller";
}

async function runSubAgent(work: SubAgentWork, context: Partial<ToolContext>): Promise<string> {
	const { subagentType, prompt } = work;
	const identity = {
		subagentId: uuid(),
		subagentType,
		parentToolCallId: context.toolCallId ?? "",
	};
	const emit = (event: SubagentEvent): void => context.onSubagentEvent?.(event);
	const progress = watchProgress();
	emit({ type: "subagent_start", ...identity, prompt, timestamp: Date.now() });
	try {
		const { turn, output } = await carryOut(work, context, (innerEvent) => {
			progress.see(innerEvent);
			emit({ type: "subagent_event", ...identity, innerEvent });
		});
		const result = output === undefined ? turn.response.text : JSON.stringify(output);
		emit({
			type: "subagent_end",
			...identity,
			success: true,
			result,
			timestamp: Date.now(),
			toolExecutions: turn.toolExecutions.map((execution) => executionTrace(execution)),
			usage: turn.usage,
		});
		return result;
	} catch (error) {
		const message = messageOf(error);
		emit({
			type: "subagent_end",
			...identity,
			success: false,
			error: message,
			timestamp: Date.now(),
			...progress.soFar(),
		});
		throw error;
	}
}

async function carryOut(
	{ agent, prompt, streams, policy }: SubAgentWork,
	context: Partial<ToolContext>,
	onEvent: (event: AgentStreamEvent) => void,
): Promise<GenerateResult> {
	const worker = withModel(agent, context);
	const options: SubAgentCallOptions = {
		...(context.signal === undefined ? {} : { signal: context.signal }),
		...(isWhole(context) ? { parentContext: context } : {}),
		...(policy === "caller" ? { [callersPolicy]: callersPolicyIn(context) } : {}),
	};
	if (!streams) return worker.generate(prompt, AgentState.initial(), options);
	const stream = worker.stream(prompt, AgentState.initial(), options);
	for await (const event of stream) onEvent(event);
	return stream.result;
}

/** @throws HoldfastError `invalid_option` if the context is not the one that the tool call received. */
function callersPolicyIn(context: Partial<ToolContext>): AgentPolicy | undefined {
	const caller = context as Partial<HasCallersPolicy>;
	if (caller.callersPolicy === undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			'A sub-agent tool with `policy: "caller"` needs its caller. Let an agent call the tool, and pass on the context that it received, not a copy.',
		);
	return caller.callersPolicy();
}

/** Whether an agent can run in a session. It cannot if its strategy has its own `execute`. */
function isSessionAgent(worker: object): boolean {
	const { execution } = worker as { readonly execution?: unknown };
	return execution === undefined || isDecider(execution as ExecutionStrategy);
}

/** Returns the agent with its own model, or otherwise with its caller's, resolved at each call. */
function withModel(agent: Agent, context: Partial<ToolContext>): Agent {
	if (agent.model !== undefined || context.parentModel === undefined) return agent;
	const config = context.parentConfig === undefined ? {} : { config: context.parentConfig };
	return makeAgent({ ...agent, model: context.parentModel, ...config });
}

function isWhole(context: Partial<ToolContext>): context is ToolContext {
	return context.toolCallId !== undefined && context.runId !== undefined;
}

function defaultPrompt(params: unknown): string {
	const given = params as Record<string, unknown>;
	for (const name of ["prompt", "task", "query"]) if (typeof given[name] === "string") return given[name];
	return JSON.stringify(params);
}

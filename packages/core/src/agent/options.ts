// The options of an agent, and their conversion into the engine's form.
import {
	bindModel,
	HoldfastError,
	type KnownOptions,
	type LLMInstance,
	type LLMOptions,
	type ModelBinding,
	optionNames,
	type System,
} from "@holdfast/upp";
import type { CheckpointStore } from "../checkpoint/index.ts";
import type {
	AgentStrategy,
	Decider,
	EngineAgent,
	EngineModel,
	EngineOutput,
	ModelWaitOptions,
} from "../engine/index.ts";
import { fairnessOf, fingerprintOf, sortTools, streamLimits } from "../engine/index.ts";
import type { ModelPrice } from "../facts/index.ts";
import type { Host, Ports } from "../host/index.ts";
import { systemPorts, systemWarn } from "../host/index.ts";
import { type OutputSchema, readOutput } from "../output/index.ts";
import type { MiddlewareEntry, Plugin } from "../policy/index.ts";
import type { Unread } from "../sessions/index.ts";
import {
	type ExecutionStrategy,
	foreignModel,
	isDecider,
	limitSteps,
	loop,
	requireOutput,
} from "../strategies/index.ts";
import { type AnyTool, normaliseTools, type ToolSet } from "../tools/index.ts";
import type { Agent } from "./agent.ts";
import { type CacheOption, cacheOf } from "./cache-policy.ts";
import { isInstance } from "./llm-instance.ts";
import type { OpaqueStrategy } from "./opaque-strategy.ts";
import { type PrepareStep, preparing } from "./prepare-step.ts";
import type { AgentHost } from "./resolve-host.ts";
import { isRuntimeLlm, type RuntimeLlm, runtimeLlmModel } from "./runtime-llm.ts";
import { fixedSystem, instructing, type SystemOption } from "./system-option.ts";
import { type AgentToolChoice, withToolChoice } from "./tool-choice.ts";

/** Options of `agent()` and `new Agent()`. Options of `llm()` are passed on to the model layer. */
export interface AgentOptions<Tools extends ToolSet = ToolSet, Schema extends OutputSchema = OutputSchema>
	extends Partial<Omit<LLMOptions, "model" | "system" | "tools">> {
	/** A reference created by a provider, an AI SDK model, an LLM instance, or a model function. */
	readonly model?: LLMOptions["model"] | LLMInstance | RuntimeLlm | undefined;
	/** An alias for `instructions`. */
	readonly system?: SystemOption | undefined;
	/** Tools in any of the supported forms. Default: none. */
	readonly tools?: Tools;
	/**
	 * Whether the model may, must or must not call tools, in every step. Default: the provider's, which is `auto`. With
	 * `required`, or a tool by name, it calls one in every step, so set a limit such as `maxSteps`.
	 */
	readonly toolChoice?: AgentToolChoice;
	/**
	 * How requests use the provider's prompt cache: `auto` (the default) uses it where the provider supports it, `off` never
	 * does, and a policy sets the parts, the lifetime or the key. Writing to a cache can cost more than reading the prompt
	 * once, so turn it off for agents that ask a long question only once.
	 */
	readonly cache?: CacheOption;
	/**
	 * Changes the model, instructions, active tools, tool choice or parameters of single model calls. It is called before
	 * each call, and again if the call is repeated after a failure or a crash. Default: all calls are alike.
	 */
	readonly prepareStep?: PrepareStep<Tools>;
	/**
	 * The system prompt: text, parts with settings of their own, or a function of session and caller. It is sent with
	 * every request and is never part of the history.
	 */
	readonly instructions?: SystemOption | undefined;
	/**
	 * How the agent works: `loop()`, `react()`, `plan()`, a strategy created by `strategy()`, or a custom one. Default:
	 * `loop()`.
	 */
	readonly execution?: ExecutionStrategy | Decider;
	/** Lifecycle hooks of the agent. */
	readonly strategy?: AgentStrategy;
	/**
	 * Policy around every run, in calls and in sessions, in the given order: middlewares, and interceptors with their own
	 * stages. The hooks of `plugins` come after it. Default: none.
	 */
	readonly middleware?: readonly MiddlewareEntry[];
	/** Where the state of a call is saved after every step. Sessions keep their own state. Default: not saved. */
	readonly checkpoints?: CheckpointStore;
	/** The session id in checkpoints. Default: the one in the restored state, otherwise a new UUIDv4. */
	readonly sessionId?: string;
	/** Where sessions are stored. Default: in memory, for the lifetime of this agent. */
	readonly host?: Host | AgentHost;
	/** US dollars per million tokens, by model id. Default: none; costs are then reported as unknown. */
	readonly prices?: Readonly<Record<string, ModelPrice>>;
	/** Plugins, in order: policy at turns, steps and tool calls, and tools for sessions. Default: none. */
	readonly plugins?: readonly Plugin[];
	/**
	 * Separates the sessions of agents that share a host. Default: none; agents then share sessions with the same key.
	 */
	readonly namespace?: string;
	/** The name shown to people and other agents. */
	readonly name?: string;
	/** A description of the agent's purpose. */
	readonly description?: string;
	/**
	 * Agents that the model may delegate to: each becomes a tool `delegate_to_<name>`, and needs `name` and
	 * `description`. Default: none.
	 */
	readonly subagents?: readonly Agent[];
	/**
	 * The time limit in milliseconds for the result of a remote tool call; then the call fails. A tool's own `timeoutMs`
	 * takes precedence, and approvals never expire. Default: no limit.
	 */
	readonly remoteToolTimeoutMs?: number;
	/**
	 * How often a run of a session is resumed after its process died without finishing a step in between. After that, it
	 * is parked until it is released. Default: 5. `Infinity` never parks, 0 resumes none.
	 */
	readonly maxRestarts?: number;
	/**
	 * How to treat a run that started with a different model, instructions or tools than the agent has now: `continue`
	 * (the default) continues with the current agent and emits the change, `park` waits for a release.
	 */
	readonly onAgentChange?: "continue" | "park";
	/**
	 * Stores the model's text while it streams, for followers with offsets: deltas are collected for this many
	 * milliseconds and then committed. A lower value delivers text earlier; a higher one needs fewer commits. Default:
	 * deltas are emitted to watchers in this process but not stored. A bare session store never stores them.
	 */
	readonly keepDeltasMs?: number;
	/**
	 * How many characters tools may stream, in one call (`perCall`) and in a session (`perSession`). A call that exceeds
	 * a limit ends with the error result `too_much_streamed`. If deltas are stored, the session's count restarts when its
	 * history is folded; otherwise it restarts with each run. Default: 16,777,216 and 268,435,456. `Infinity`: no limit.
	 */
	readonly maxStreamed?: { readonly perCall?: number; readonly perSession?: number };
	/**
	 * How many steps a run may take, including those before a suspension; then it fails with `max_steps_exceeded`.
	 * Default: no limit, but a run that passes 100 steps emits the warning `many_steps`. `Infinity`: no limit and no
	 * warning.
	 */
	readonly maxSteps?: number;
	/**
	 * The schema of the answer: a Standard Schema (zod, valibot, …), `jsonSchema()` of the AI SDK, or JSON Schema. The
	 * answer is validated, an invalid one is returned to the model, and the result has the valid one as `output`. A
	 * schema that does not describe an object is shown to the model as the member `value` of one. Default: any text.
	 */
	readonly output?: Schema;
	/**
	 * How many times in a row an invalid answer is returned to the model with its issues; then the run fails with
	 * `output_invalid`. Each repair costs a model call. Default 2; 0 never asks again.
	 */
	readonly outputRepairs?: number;
	/**
	 * How to treat a run of a session if its events and result are not requested within a second: `continue` (the
	 * default) runs it anyway, and warns once with `run_unread`; `wait` pauses the run and later turns until they are
	 * requested. Once `events()` is called, its consumer drives the run in both cases.
	 */
	readonly unread?: Unread;
	/**
	 * How runs of sessions wait if the model's provider asks to slow down or is unreachable, and the model's own
	 * retries are used up. A waiting run occupies no process and retries by itself. `never`: it fails with the
	 * provider's error. Default: on a durable host up to a day, with delays from 30 seconds to ten minutes or as the
	 * provider asks; in memory `never`. Calls without a session always fail.
	 */
	readonly modelWait?: ModelWaitOptions | "never";
	/**
	 * Receives warnings: errors that were not thrown, each with a `code`. Default: process warnings, which Node writes to
	 * stderr. Must not throw.
	 */
	readonly onWarning?: (warning: HoldfastError) => void;
	/** Time, ids and the event loop. Default: the system's. */
	readonly ports?: Partial<Ports>;
}

/** The agent's own options, and the kinds of those that nothing else checks. All others are passed to the model layer. */
const ownOptions = {
	tools: true,
	toolChoice: true,
	cache: true,
	prepareStep: "function",
	instructions: true,
	execution: true,
	strategy: true,
	middleware: true,
	checkpoints: true,
	sessionId: "text",
	host: true,
	namespace: "text",
	plugins: true,
	prices: true,
	name: "text",
	description: "text",
	subagents: true,
	maxRestarts: true,
	onAgentChange: ["continue", "park"],
	ports: "object",
	remoteToolTimeoutMs: true,
	keepDeltasMs: true,
	maxSteps: true,
	maxStreamed: true,
	output: true,
	outputRepairs: true,
	unread: ["continue", "wait"],
	modelWait: true,
	onWarning: "function",
} as const;

/** The options that the strict constructor accepts. */
export const knownOptions: KnownOptions = optionNames<AgentOptions>({
	...ownOptions,
	model: true,
	config: "object",
	params: "object",
	system: true,
	toolStrategy: "object",
	structure: "object",
	onRetry: "function",
});

/**
 * Resolves options into the engine's form.
 * @throws HoldfastError `duplicate_tool`, `invalid_tool`, `agent_is_not_a_tool`, `invalid_schema`, `conflicting_options`.
 */
export function resolveAgent(id: string, options: AgentOptions): EngineAgent {
	if (
		options.instructions !== undefined &&
		options.system !== undefined &&
		options.instructions !== options.system
	)
		throw new HoldfastError(
			"conflicting_options",
			"Both `instructions` and `system` are given. They mean the same; give one.",
		);
	const instructions = options.system ?? options.instructions;
	const system = fixedSystem(instructions);
	const tools = normaliseTools(toolsAsGiven(options.tools));
	const { toolList, loadable } = sortTools(tools);
	const output = readOutput(options);
	const ports = options.ports === undefined ? systemPorts : { ...systemPorts, ...options.ports };
	let bound: EngineModel | undefined;
	let identity: string | undefined;
	const model = (): EngineModel => (bound ??= bind(options, system));
	const fingerprint = (): string =>
		(identity ??= fingerprintOf(modelIdOf(options.model) ?? "", system, toolList));
	const own = { tools, system, fingerprint, bind: (given: AgentOptions) => bind(given, system) };
	return {
		id,
		model,
		system,
		tools,
		toolList,
		...(loadable === undefined ? {} : { loadable }),
		...(typeof instructions === "function" ? { instruct: instructing(instructions, options.cache) } : {}),
		...(options.prepareStep === undefined ? {} : { prepare: preparing(options, own) }),
		decider: deciderOf(options, output),
		...(output === undefined ? {} : { output }),
		hooks: options.strategy ?? {},
		toolStrategy: options.toolStrategy ?? {},
		ports,
		warn: options.onWarning ?? systemWarn,
		...(typeof options.name === "string" ? { name: options.name } : {}),
		stepsAre: isLimited(options) ? "limited" : "unlimited",
		fairness: fairnessOf(ports),
		fingerprint,
		toolContext: { parentModel: options.model, parentConfig: options.config },
		...(options.remoteToolTimeoutMs === undefined
			? {}
			: { remoteToolTimeoutMs: options.remoteToolTimeoutMs }),
		maxStreamed: { ...streamLimits, ...options.maxStreamed },
		...(options.keepDeltasMs === undefined ? {} : { keepDeltasMs: options.keepDeltasMs }),
	};
}

/** Lists that were converted from records, so that spreading an agent keeps the names its tools were given under. */
const records = new WeakMap<object, ToolSet>();

/** Returns the caller's own tool objects as a list. */
export function toolObjects(tools: ToolSet | undefined): readonly AnyTool[] {
	if (tools === undefined) return [];
	if (Array.isArray(tools)) return tools;
	const list = Object.freeze(Object.values(tools));
	records.set(list, tools);
	return list;
}

/** Returns the tools in the form the original agent was given: a record if it was one. */
export function toolsAsGiven(tools: ToolSet | undefined): ToolSet {
	return records.get(tools ?? []) ?? tools ?? [];
}

function bind(options: AgentOptions, system: System | undefined): EngineModel {
	if (options.model === undefined) {
		throw new HoldfastError(
			"model_missing",
			"This agent has no model. Give `model` in its options before it is used.",
		);
	}
	if (isRuntimeLlm(options.model)) return runtimeLlmModel(options.model);
	if (isInstance(options.model)) {
		const asked = foreignModel(options.model);
		const price = options.prices?.[asked.model.modelId];
		return price === undefined ? asked : { ...asked, price };
	}
	const binding: ModelBinding = bindModel(llmOptionsOf(options, system));
	const price = options.prices?.[binding.model.modelId];
	return {
		model: binding.model,
		request: requestOf(binding, options.onRetry),
		cache: cacheOf(options.cache, binding.model.capabilities, binding.model.modelId),
		...(price === undefined ? {} : { price }),
	};
}

/** Retries are reported to the watchers of the run and to the caller's own listener. */
function requestOf(binding: ModelBinding, onRetry: AgentOptions["onRetry"]): EngineModel["request"] {
	if (onRetry === undefined) return binding.request;
	return (messages, extra) =>
		binding.request(messages, {
			...extra,
			onRetry(info) {
				extra.onRetry?.(info);
				onRetry(info);
			},
		});
}

/** Returns a custom strategy with its parts; undefined if the engine drives the strategy. */
export function opaqueOf(options: AgentOptions): OpaqueStrategy | undefined {
	const { execution } = options;
	if (execution === undefined || isDecider(execution)) return undefined;
	if (typeof (execution as Partial<ExecutionStrategy> | null)?.execute !== "function") {
		throw new HoldfastError(
			"invalid_strategy",
			"`execution` must be a strategy: {name, execute, stream} or {name, decide}.",
		);
	}
	if (options.output !== undefined) throw hasNoOutput(execution.name);
	if (options.maxStreamed !== undefined)
		throw new HoldfastError(
			"conflicting_options",
			`\`maxStreamed\` is given, and the strategy "${execution.name}" has its own \`execute\`, which runs its tools itself. Remove \`maxStreamed\`.`,
		);
	for (const name of ["cache", "prepareStep"] as const)
		if (options[name] !== undefined) throw asksItself(name, execution.name, `Leave \`${name}\` out.`);
	const system = options.system ?? options.instructions;
	if (typeof system === "function") throw asksItself("system", execution.name, "Give a text or parts.");
	return { strategy: execution, llmOptions: llmOptionsOf(options, system) };
}

function asksItself(option: string, strategy: string, remedy: string): HoldfastError {
	const given = option === "system" ? "a function" : "given";
	return new HoldfastError(
		"conflicting_options",
		`\`${option}\` is ${given}, and the strategy "${strategy}" has its own \`execute\`, which asks its model itself. ${remedy}`,
	);
}

/** Its answers bypass the engine, which could neither check them nor ask again. */
export function hasNoOutput(strategy: string): HoldfastError {
	return new HoldfastError(
		"conflicting_options",
		`\`output\` is given, and the strategy "${strategy}" has its own \`execute\`, whose answers cannot be checked. Create the strategy with strategy({name, decide}), or remove \`output\`.`,
	);
}

/** Shared by all agents without a strategy. It holds no reference to them. */
const defaultStrategy = loop();

function deciderOf({ execution, maxSteps }: AgentOptions, output: EngineOutput | undefined): Decider {
	const given = execution !== undefined && isDecider(execution) ? execution : defaultStrategy;
	if (given.code !== undefined) return given;
	const decider = output === undefined ? given : requireOutput(given, output);
	return maxSteps === undefined || maxSteps === Number.POSITIVE_INFINITY
		? decider
		: limitSteps(decider, maxSteps);
}

/** Whether the number of steps of a run is limited by an option. */
function isLimited({ execution, maxSteps }: AgentOptions): boolean {
	return maxSteps !== undefined || (execution as Partial<Decider> | undefined)?.limitsSteps === true;
}

/** Returns the options of the model layer: all that are not the agent's own. */
function llmOptionsOf(options: AgentOptions, system: System | undefined): LLMOptions {
	const passed: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(options))
		if (name !== "system" && !Object.hasOwn(ownOptions, name)) passed[name] = value;
	if (system !== undefined) passed.system = system;
	const params = withToolChoice(options.params, options.toolChoice);
	if (params !== undefined) passed.params = params;
	return passed as unknown as LLMOptions;
}

/** Returns the id of a model in any form; undefined if it has none. */
export function modelIdOf(model: AgentOptions["model"]): string | undefined {
	return (model as { modelId?: unknown } | undefined)?.modelId?.toString();
}

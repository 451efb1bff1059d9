// The options of an agent, and their resolution into the engine's form.
import {
	bindModel,
	HoldfastError,
	type LLMInstance,
	type LLMOptions,
	type ModelBinding,
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
import { fairnessOf, fingerprintOf, streamLimits } from "../engine/index.ts";
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
import { isInstance } from "./llm-instance.ts";
import type { OpaqueStrategy } from "./opaque-strategy.ts";
import type { AgentHost } from "./resolve-host.ts";
import { isRuntimeLlm, type RuntimeLlm, runtimeLlmModel } from "./runtime-llm.ts";
import { type AgentToolChoice, withToolChoice } from "./tool-choice.ts";

/**
 * Options of `agent()` and `new Agent()`. Everything that `llm()` takes is passed on to the model layer.
 */
export interface AgentOptions<Tools extends ToolSet = ToolSet, Schema extends OutputSchema = OutputSchema>
	extends Partial<Omit<LLMOptions, "model" | "system" | "tools">> {
	/** A reference made by a provider, a model of the AI SDK, an instance of an LLM, or a function that is a model. */
	readonly model?: LLMOptions["model"] | LLMInstance | RuntimeLlm | undefined;
	/** Another name for `instructions`. */
	readonly system?: string | undefined;
	/** Tools of any of the known shapes. Default: none. */
	readonly tools?: Tools;
	/**
	 * Whether the model may, must or must not call tools, in every step. Default: as its provider does, which is `auto`.
	 * With `required`, or a tool by name, it calls one in every step: a limit such as `maxSteps` ends that.
	 */
	readonly toolChoice?: AgentToolChoice;
	/** The system prompt. It is part of every request and never of the history. */
	readonly instructions?: string;
	/** How the agent works: `loop()`, `react()`, `plan()`, one made by `strategy()`, or a custom one. Default: `loop()`. */
	readonly execution?: ExecutionStrategy | Decider;
	/** Hooks of the agent's life. */
	readonly strategy?: AgentStrategy;
	/**
	 * Policy around every run, in calls as in sessions, in this order: middlewares, and interceptors with stages of their
	 * own. The hooks of `plugins` come after it. Default: none.
	 */
	readonly middleware?: readonly MiddlewareEntry[];
	/** Where the state is saved after every step of a call; sessions keep their own. Default: nowhere. */
	readonly checkpoints?: CheckpointStore;
	/** Names the session in checkpoints. Default: the one of the restored state, else a new UUIDv4. */
	readonly sessionId?: string;
	/** Where sessions live. Default: in memory, for the life of this agent. */
	readonly host?: Host | AgentHost;
	/** US dollars for a million tokens, by model id. Default: none; costs are then reported as unknown. */
	readonly prices?: Readonly<Record<string, ModelPrice>>;
	/** Policy at turns, steps and tool calls, and tools for sessions, in this order. Default: none. */
	readonly plugins?: readonly Plugin[];
	/** Keeps the sessions of agents that share a host apart. Default: none; then they share sessions of the same key. */
	readonly namespace?: string;
	/** Name for people and other agents. */
	readonly name?: string;
	/** A description of the agent's purpose. */
	readonly description?: string;
	/**
	 * Agents that the model may give work to: each is a tool `delegate_to_<name>`, and needs `name` and `description`.
	 * Default: none.
	 */
	readonly subagents?: readonly Agent[];
	/**
	 * The time limit in milliseconds for an outside answer to a call of a remote tool, after which it has failed; a
	 * tool's own `timeoutMs` takes precedence, and approvals never expire. Default: no limit.
	 */
	readonly remoteToolTimeoutMs?: number;
	/**
	 * How often a run of a session is resumed after its process died, without finishing a step in between; then it is
	 * parked until it is released. Default: 5. `Infinity` never parks, 0 resumes none.
	 */
	readonly maxRestarts?: number;
	/**
	 * How to treat a run that started with another model, other instructions or other tools than the agent has now:
	 * `continue` (the default) continues with the current agent and emits the change, `park` waits for a release.
	 */
	readonly onAgentChange?: "continue" | "park";
	/**
	 * Stores the model's text while it streams, for followers with offsets: deltas are collected for this many
	 * milliseconds and then committed. A lower value delivers text earlier; a higher one needs fewer commits. Default:
	 * deltas are emitted to watchers in this process and not stored, which is always so over a bare session store.
	 */
	readonly keepDeltasMs?: number;
	/**
	 * How many characters tools may stream, in one call (`perCall`) and in a session (`perSession`); a call that exceeds one ends
	 * with an error result, `too_much_streamed`. Where deltas are kept, the session's count starts again when its history is
	 * folded; elsewhere with each run. Default: 16,777,216 and 268,435,456. `Infinity`: no limit.
	 */
	readonly maxStreamed?: { readonly perCall?: number; readonly perSession?: number };
	/**
	 * How many steps a run may take, over all its suspensions; then it fails with `max_steps_exceeded`. Default: no limit,
	 * and a warning, `many_steps`, of a run that passes 100. `Infinity`: no limit and no warning.
	 */
	readonly maxSteps?: number;
	/**
	 * The schema of the answer: a Standard Schema (zod, valibot, …), `jsonSchema()` of the AI SDK, or JSON Schema. The
	 * answer is validated, a wrong one goes back to the model, and the result has it as `output`. A schema of anything
	 * other than an object is shown to the model as the member `value` of one. Default: any text.
	 */
	readonly output?: Schema;
	/**
	 * How many times in a row a wrong answer goes back to the model, with its issues; then the run fails with
	 * `output_invalid`. Each costs a model call. Default 2; 0 never asks again.
	 */
	readonly outputRepairs?: number;
	/**
	 * How to treat a run of a session whose events and result are not requested within a second: `continue` (the default)
	 * runs it anyway, and warns once with `run_unread`; `wait` pauses it and later turns until they are. Once `events()`
	 * is called, its consumer drives the run in both cases.
	 */
	readonly unread?: Unread;
	/**
	 * How runs of sessions wait when the provider of the model asks to slow down or cannot be reached, and the model's
	 * own retries are used up: a run then waits without a process and asks again by itself. `never`: it fails with the
	 * provider's error. Default: on a durable host up to a day, with delays from 30 seconds to ten minutes, or as the
	 * provider asks; in memory `never`. Calls without a session always fail.
	 */
	readonly modelWait?: ModelWaitOptions | "never";
	/**
	 * Gets warnings: errors that nothing threw, each with a `code`. Default: warnings of the process, which Node writes to
	 * stderr. Must not throw.
	 */
	readonly onWarning?: (warning: HoldfastError) => void;
	/** Time, ids and the event loop. Default: the system's. */
	readonly ports?: Partial<Ports>;
}

/** Options that are the agent's own; all others go to the model layer. */
const ownOptions: ReadonlySet<string> = new Set([
	"tools",
	"toolChoice",
	"instructions",
	"execution",
	"strategy",
	"middleware",
	"checkpoints",
	"sessionId",
	"host",
	"namespace",
	"plugins",
	"prices",
	"name",
	"description",
	"subagents",
	"maxRestarts",
	"onAgentChange",
	"ports",
	"remoteToolTimeoutMs",
	"keepDeltasMs",
	"maxSteps",
	"maxStreamed",
	"output",
	"outputRepairs",
	"unread",
	"modelWait",
	"onWarning",
]);

/** The names the strict constructor knows. */
export const knownOptions: ReadonlySet<string> = new Set([
	...ownOptions,
	"model",
	"config",
	"params",
	"system",
	"toolStrategy",
	"structure",
	"onRetry",
]);

/**
 * Resolves options into the engine's form.
 * @throws HoldfastError `duplicate_tool`, `invalid_tool`, `agent_is_not_a_tool`, `invalid_schema`, `conflicting_options`.
 */
export function resolveAgent(id: string, options: AgentOptions): EngineAgent {
	if (
		options.instructions !== undefined &&
		options.system !== undefined &&
		options.instructions !== options.system
	) {
		throw new HoldfastError(
			"conflicting_options",
			"Both `instructions` and `system` are given. They mean the same; give one.",
		);
	}
	const system = options.system ?? options.instructions;
	const tools = normaliseTools(toolsAsGiven(options.tools));
	const toolList = [...tools.values()];
	const output = readOutput(options);
	const ports = options.ports === undefined ? systemPorts : { ...systemPorts, ...options.ports };
	let model: EngineModel | undefined;
	let fingerprint: string | undefined;
	return {
		id,
		model: () => (model ??= bind(options, system)),
		tools,
		toolList,
		decider: deciderOf(options, output),
		...(output === undefined ? {} : { output }),
		hooks: options.strategy ?? {},
		toolStrategy: options.toolStrategy ?? {},
		ports,
		warn: options.onWarning ?? systemWarn,
		...(typeof options.name === "string" ? { name: options.name } : {}),
		stepsAre: isLimited(options) ? "limited" : "unlimited",
		fairness: fairnessOf(ports),
		fingerprint: () => (fingerprint ??= fingerprintOf(modelIdOf(options.model) ?? "", system, toolList)),
		toolContext: { parentModel: options.model, parentConfig: options.config },
		...(options.remoteToolTimeoutMs === undefined
			? {}
			: { remoteToolTimeoutMs: options.remoteToolTimeoutMs }),
		maxStreamed: { ...streamLimits, ...options.maxStreamed },
		...(options.keepDeltasMs === undefined ? {} : { keepDeltasMs: options.keepDeltasMs }),
	};
}

/** Lists made of records: an agent that is spread still knows its tools by the names they were given under. */
const records = new WeakMap<object, ToolSet>();

/** The caller's own tool objects, as a list. */
export function toolObjects(tools: ToolSet | undefined): readonly AnyTool[] {
	if (tools === undefined) return [];
	if (Array.isArray(tools)) return tools;
	const list = Object.freeze(Object.values(tools));
	records.set(list, tools);
	return list;
}

/** The tools as given to the agent whose spread contains them: a record, if it was one. */
export function toolsAsGiven(tools: ToolSet | undefined): ToolSet {
	return records.get(tools ?? []) ?? tools ?? [];
}

function bind(options: AgentOptions, system: string | undefined): EngineModel {
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
		...(price === undefined ? {} : { price }),
	};
}

/** Retries are reported to the watchers of the run, and to the caller's own listener. */
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

/** A custom strategy with its parts; undefined for one that the engine drives. */
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
			`\`maxStreamed\` is given, and the strategy "${execution.name}" has its own \`execute\`, which runs its tools itself. Leave \`maxStreamed\` out.`,
		);
	return { strategy: execution, llmOptions: llmOptionsOf(options, options.system ?? options.instructions) };
}

/** Its answers go round the engine, which could neither check them nor ask again. */
export function hasNoOutput(strategy: string): HoldfastError {
	return new HoldfastError(
		"conflicting_options",
		`\`output\` is given, and the strategy "${strategy}" has its own \`execute\`, whose answers nobody could check. Make the strategy with strategy({name, decide}), or leave \`output\` out.`,
	);
}

/** Shared by all agents that were given none: it knows nothing of them. */
const defaultStrategy = loop();

function deciderOf({ execution, maxSteps }: AgentOptions, output: EngineOutput | undefined): Decider {
	const given = execution !== undefined && isDecider(execution) ? execution : defaultStrategy;
	const decider = output === undefined ? given : requireOutput(given, output);
	return maxSteps === undefined || maxSteps === Number.POSITIVE_INFINITY
		? decider
		: limitSteps(decider, maxSteps);
}

/** Whether the number of steps of a run is limited by an option. */
function isLimited({ execution, maxSteps }: AgentOptions): boolean {
	return maxSteps !== undefined || (execution as Partial<Decider> | undefined)?.limitsSteps === true;
}

/** The options of the model layer: all that are not the agent's own. */
function llmOptionsOf(options: AgentOptions, system: string | undefined): LLMOptions {
	const passed: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(options)) if (!ownOptions.has(name)) passed[name] = value;
	if (system !== undefined) passed.system = system;
	const params = withToolChoice(options.params, options.toolChoice);
	if (params !== undefined) passed.params = params;
	return passed as unknown as LLMOptions;
}

/** The id of a model, however it was given; undefined if absent. */
export function modelIdOf(model: AgentOptions["model"]): string | undefined {
	return (model as { modelId?: unknown } | undefined)?.modelId?.toString();
}

// A plugin: policy that is written once and used by many agents. Its hooks are called at the turns, steps and tool calls
// of every run of the agent.

import type { Message } from "@holdfast/upp";
import { HoldfastTypeError } from "@holdfast/upp";
import type { Caller } from "../../caller/index.ts";
import type { AgentEvent, SendInput, ToolCallOutcome } from "../../facts/index.ts";
import type { MaybePromise, SessionFiles, SessionValues } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import type { ToolCallDecision } from "../interceptor.ts";
import type { AskModel } from "./ask-model.ts";

/** The context of every hook. */
export interface HookContext {
	/** In a call: a unique key that no session has. */
	readonly sessionKey: string;
	/**
	 * The key of the session or call of the plugin's own agent. It differs from `sessionKey` if the hook is called for a
	 * sub-agent or a script that works under the policy of that agent.
	 */
	readonly agentSessionKey: string;
	/** The requester of the run, if known: the result of a server's `authenticate`. */
	readonly caller?: Caller;
	/** The conversation so far, built on access. It is a copy: changing the list has no effect. */
	readonly history: readonly Message[];
	/** Aborted when the run is asked to stop. */
	readonly signal: AbortSignal;
}

/** Adds context that the model sees for the rest of the turn and that is not stored. */
export type Overlay = (input: SendInput) => Promise<void>;

/** The argument of `turn.before` handlers. */
export interface TurnBeforeContext extends HookContext {
	/** Adds context for the whole turn. */
	readonly overlay: Overlay;
}

/** The argument of `step.before` handlers. */
export interface StepBeforeContext extends HookContext {
	/** The step's position in its turn, from 0. */
	readonly stepIndex: number;
	/** Adds context for the rest of the turn. */
	readonly overlay: Overlay;
}

/** The argument of `step.after` handlers. */
export interface StepAfterContext extends StepBeforeContext {
	readonly result: "completed";
	/** Adds an input to the running turn, which continues to process it. Resolves when it is accepted. */
	steer(input: SendInput): Promise<unknown>;
}

/** How a turn ended. */
export type TurnResult = "completed" | "aborted" | "error" | "killed";

/** The argument of `turn.after` handlers. */
export interface TurnAfterContext extends HookContext {
	/** How the turn ended. */
	readonly result: TurnResult;
	/** Rejects with `overlay_closed`, because the turn has ended. */
	readonly overlay: Overlay;
}

/** The argument of `tool.call` handlers. */
export interface ToolCallContext extends HookContext {
	/** The step's position in its turn, from 0. */
	readonly stepIndex: number;
	readonly toolCallId: string;
	/** The tool's name. */
	readonly tool: string;
	/** The arguments after the handlers before this one; a separate copy. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool takes is known to its author
	readonly input: any;
}

/** The argument of `tool.result` handlers. */
export interface ToolResultContext extends HookContext {
	/** The step's position in its turn, from 0. */
	readonly stepIndex: number;
	readonly toolCallId: string;
	/** The tool's name. */
	readonly tool: string;
	/** The tool's actual input, or the input it would have received. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool takes is known to its author
	readonly input: any;
	/** How the call ended. */
	readonly status: "done" | "error" | "cancelled";
	/** What the model sees, after the handlers before this one. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool gives is known to its author
	readonly output: any;
	/** The error, if the status is not `done`. */
	readonly error?: unknown;
}

/** The replacement of a result. Without an `output` the model sees the text of the error. */
export type ToolResultReplacement =
	| { readonly status: "done"; readonly output: unknown }
	| { readonly status: "error" | "cancelled"; readonly error: unknown; readonly output?: unknown };

/** The argument of `result.record` handlers. */
export interface ResultRecordContext extends HookContext {
	readonly toolCallId: string;
	/** How the call ended. */
	readonly outcome: ToolCallOutcome;
	/** The result as it will be recorded, after all middleware and the handlers before this one. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool gives is known to its author
	readonly output: any;
}

/** The argument of `session.fork` handlers. */
export interface SessionForkContext {
	/** The key of the forked session. */
	readonly sessionKey: string;
	/** The key of the fork. */
	readonly forkKey: string;
	/** The history that the fork begins with. */
	readonly history: readonly Message[];
}

/** The argument of `assemble` handlers. */
export interface AssembleContext {
	/** In a call: a unique key that no session has. */
	readonly sessionKey: string;
	/** The requester of the run, if known. */
	readonly caller?: Caller;
	/** Aborted when the run is asked to stop. */
	readonly signal: AbortSignal;
	/** The messages for the model, after the handlers before this one. */
	readonly messages: readonly Message[];
	/**
	 * Returns the tokens of the request with these messages, as the provider counts them: its count of the last request, with
	 * the difference estimated at four characters of JSON per token. Before the first count, the estimate of the messages.
	 */
	countTokens(messages: readonly Message[]): number;
}

/** Nothing, including from a handler without a `return`. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers that return nothing have this type
type Nothing = undefined | void;

/** The hooks by name. Return values of the lifecycle hooks are awaited and otherwise ignored. */
export interface PluginHooks {
	/** Called before the first step. If it throws, the run fails. */
	"turn.before"(context: TurnBeforeContext): unknown;
	/** Called before each step. If it throws, the run fails. */
	"step.before"(context: StepBeforeContext): unknown;
	/** Called after each step. If it throws, the run fails. */
	"step.after"(context: StepAfterContext): unknown;
	/** Called after the end of the turn is committed. Errors have no effect. */
	"turn.after"(context: TurnAfterContext): unknown;
	/**
	 * Called before a tool runs. The first decision other than `allow` and `modify` counts. If it throws, the run fails.
	 */
	"tool.call"(context: ToolCallContext): MaybePromise<ToolCallDecision | Nothing>;
	/** Called before a result is recorded. If it throws, the run fails. */
	"tool.result"(context: ToolResultContext): MaybePromise<ToolResultReplacement | Nothing>;
	/**
	 * Called with each result as it will be recorded: of a tool, of a sub-agent, or answered from outside, after every
	 * `admit` of the middleware. Returns the output to record instead. If it throws, the run fails with that error. Not
	 * called for the results inside a sub-agent with `policy: "caller"`.
	 */
	"result.record"(context: ResultRecordContext): MaybePromise<{ readonly output: unknown } | Nothing>;
	/** Called before the model. Returns the messages the model sees instead of these. If it throws, the run fails. */
	assemble(context: AssembleContext): MaybePromise<readonly Message[] | Nothing>;
	/**
	 * Called when a session is deleted, to delete what the plugin stores elsewhere for it. If it throws, the deletion
	 * fails.
	 */
	"session.delete"(context: { readonly sessionKey: string }): unknown;
	/**
	 * Called after a session was forked, to copy what the plugin stores for it. If it throws, `fork()` rejects; the fork
	 * exists.
	 */
	"session.fork"(context: SessionForkContext): unknown;
}

/** The name of a plugin's hook. */
export type HookName = keyof PluginHooks;

/** Options of `host.tool`. */
export interface PluginToolOptions {
	/**
	 * Where the model is offered the tool. In a call, the tool's context has no `sessionKey`: pass the context itself to
	 * `host.values` and `host.files`. Default `sessions`.
	 */
	readonly in?: "sessions" | "sessions-and-calls";
}

/** The session or call of a tool: a part of the tool's context. */
export interface ToolSession {
	/** Absent in a call. */
	readonly sessionKey?: string;
	readonly runId: string;
}

/** The run that a function of instructions is called for. */
export interface InstructionsRequest {
	/** Absent in calls without a session. In a sub-agent, the key of its own session. */
	readonly sessionKey?: string | undefined;
	/** The requester of the run, if known. */
	readonly caller?: Caller | undefined;
}

/** Returns a section of the instructions for a run. If it throws, the run fails. */
export type InstructionsFunction = (run: InstructionsRequest) => MaybePromise<string>;

/** A skill of an agent, as interfaces list it. */
export interface SkillInfo {
	/** The name by which the model loads it. */
	readonly name: string;
	/** Explains to the model when to load it. */
	readonly description: string;
	/** The SHA-256 of its instructions, in hexadecimal. */
	readonly hash: string;
	/** The calls that it allows. Absent if it does not limit them. */
	readonly allowedTools?: readonly string[];
	/** The paths of its files. */
	readonly files: readonly string[];
}

/** The argument of `setup`. Usable while `setup` runs. */
export interface PluginHost {
	/**
	 * Registers a handler of a hook. Handlers of one hook are called in the order of registration.
	 *
	 * A handler of `tool.result` may replace what a tool returned, so the output of a running tool is not emitted. With
	 * `deltas: "as-is"` it is: the handler removes nothing from results, for example because it only adds to them.
	 * @throws HoldfastError `invalid_option` naming the plugin, for an unknown hook or a handler that is not a function.
	 * Also for `deltas` with another hook.
	 */
	on<Name extends HookName>(
		name: Name,
		handler: PluginHooks[Name],
		options?: Name extends "tool.result" ? { readonly deltas?: "as-is" } : undefined,
	): void;
	/** Adds a tool to every session of the agent, and with `in: "sessions-and-calls"` to every call. */
	tool(tool: AnyTool, options?: PluginToolOptions): void;
	/**
	 * Adds a section to the instructions of the agent, after its own, in sessions and calls. A function is called once for
	 * each run, before the run starts, like the option `system`; a resumed run keeps the text. An empty text adds nothing.
	 */
	instructions(text: string | InstructionsFunction): void;
	/**
	 * Sets where sessions are stored.
	 * @throws HoldfastError `invalid_option` if an earlier plugin has already set it.
	 */
	sessionStore(store: unknown): void;
	/**
	 * Returns this plugin's values for a session or call, invisible to other plugins. For hooks and tools, after `setup`.
	 * @throws HoldfastError `invalid_argument` for what is neither a key nor the context of a tool.
	 */
	values(of: string | ToolSession): SessionValues;
	/**
	 * Returns this plugin's files for a session or call, invisible to other plugins and deleted with the session. For hooks
	 * and tools, after `setup`. Files of a call are in memory until its end.
	 * @throws HoldfastError `files_unavailable` if the host of the sessions stores no files, `invalid_argument` for what is
	 * neither a key nor the context of a tool.
	 */
	files(of: string | ToolSession): SessionFiles;
	/** Asks the agent's own model, apart from any conversation. For hooks and tools, after `setup`. */
	ask: AskModel;
}

/**
 * A plugin. `setup` registers hooks and tools. `events.on` observes everything that runs emit: the run does not pass a
 * boundary until the returned promise has settled, and errors have no effect.
 */
export interface Plugin {
	/** Shown in errors. Default: its position in the list. */
	readonly name?: string;
	/** Called once, when the agent is first used. If it throws, every run fails with `plugin_failed`. */
	setup?(host: PluginHost): void | Promise<void>;
	/** Lists the skills that the plugin gives its agent, for user interfaces such as the inspector. */
	skills?(): MaybePromise<readonly SkillInfo[]>;
	/** Observes the events of runs. */
	readonly events?: {
		on(context: {
			readonly event: AgentEvent;
			readonly history: readonly Message[];
			readonly signal?: AbortSignal;
		}): void | Promise<void>;
	};
}

/**
 * Validates a plugin and returns it.
 *
 * @throws HoldfastError `invalid_option` describing the problem.
 * @example
 * import { definePlugin } from "holdfast/plugins";
 *
 * const policy = definePlugin({
 * 	name: "read-only",
 * 	setup(host) {
 * 		host.on("tool.call", ({ tool }) => {
 * 			if (tool === "delete_file") return { action: "reject-and-continue", message: "Nothing is deleted here." };
 * 		});
 * 	},
 * });
 */
export function definePlugin<Given extends Plugin>(plugin: Given): Given {
	checkPlugin(plugin, "The plugin");
	return plugin;
}

/** @throws HoldfastError `invalid_option` if the value is not a list of plugins. */
export function checkPlugins(plugins: readonly Plugin[]): void {
	if (!Array.isArray(plugins))
		throw new HoldfastTypeError("invalid_option", "The option `plugins` must be a list of plugins.");
	for (const [at, plugin] of plugins.entries())
		checkPlugin(plugin, `The plugin at position ${at + 1} of \`plugins\``);
}

/** @throws HoldfastError `invalid_option` naming the plugin and the problem. */
function checkPlugin(plugin: Plugin, place: string): void {
	if (typeof plugin !== "object" || plugin === null) {
		throw new HoldfastTypeError(
			"invalid_option",
			`${place} is ${typeOf(plugin)}. Give an object, made by definePlugin({name, setup}).`,
		);
	}
	const { name, setup, events, skills } = plugin;
	if (name !== undefined && (typeof name !== "string" || name === ""))
		throw new HoldfastTypeError(
			"invalid_option",
			`${place} has a \`name\` that is not a string. Give a name, or none.`,
		);
	const named = name === undefined ? place : `The plugin "${name}"`;
	if (setup !== undefined && typeof setup !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`${named} has a \`setup\` that is ${typeOf(setup)}. Give a function.`,
		);
	if (skills !== undefined && typeof skills !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`${named} has \`skills\` that is ${typeOf(skills)}. Give a function that returns a list.`,
		);
	if (events !== undefined && typeof events?.on !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`${named} has \`events\` without a function \`on\`. Give {on({event}) {...}}.`,
		);
}

function typeOf(value: unknown): string {
	return value === null ? "null" : `of type ${typeof value}`;
}

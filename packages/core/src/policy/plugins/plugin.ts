// A plugin: policy that is written once and given to many agents. Its hooks are called at the turns, steps and tool calls
// of every run of the agent.

import type { Message } from "@holdfast/upp";
import { HoldfastTypeError } from "@holdfast/upp";
import type { Caller } from "../../caller/index.ts";
import type { AgentEvent, SendInput } from "../../facts/index.ts";
import type { MaybePromise, SessionValues } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import type { ToolCallDecision } from "../interceptor.ts";
import type { AskModel } from "./ask-model.ts";

/** The context of every hook. */
export interface HookContext {
	/** In a call `call:` and an id that no other call has. */
	readonly sessionKey: string;
	/** The requester of the run, if known: the result of a server's `authenticate`. */
	readonly caller?: Caller;
	/** The conversation so far; built when it is read, and a copy: changing the list changes nothing. */
	readonly history: readonly Message[];
	/** Fires when the run is asked to stop. */
	readonly signal: AbortSignal;
}

/** Adds context for the rest of the turn that is shown to the model and stored nowhere. */
export type Overlay = (input: SendInput) => Promise<void>;

/** The argument of `turn.before` handlers. */
export interface TurnBeforeContext extends HookContext {
	readonly overlay: Overlay;
}

/** The argument of `step.before` handlers. */
export interface StepBeforeContext extends HookContext {
	/** The step's place in its turn, from 0. */
	readonly stepIndex: number;
	readonly overlay: Overlay;
}

/** The argument of `step.after` handlers. */
export interface StepAfterContext extends StepBeforeContext {
	readonly result: "completed";
	/** Says something to the running turn, which continues for it. Resolves when it is accepted. */
	steer(input: SendInput): Promise<unknown>;
}

/** How a turn ended. */
export type TurnResult = "completed" | "aborted" | "error" | "killed";

/** The argument of `turn.after` handlers. */
export interface TurnAfterContext extends HookContext {
	readonly result: TurnResult;
	/** Rejects with `overlay_closed`: the turn has ended. */
	readonly overlay: Overlay;
}

/** The argument of `tool.call` handlers. */
export interface ToolCallContext extends HookContext {
	readonly stepIndex: number;
	readonly toolCallId: string;
	/** The tool's name. */
	readonly tool: string;
	/** The arguments as the handlers before this one left them; a copy of its own. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool takes is known to its author
	readonly input: any;
}

/** The argument of `tool.result` handlers. */
export interface ToolResultContext extends HookContext {
	readonly stepIndex: number;
	readonly toolCallId: string;
	readonly tool: string;
	/** What the tool was given, or would have been. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool takes is known to its author
	readonly input: any;
	readonly status: "done" | "error" | "cancelled";
	/** What the model is shown, as the handlers before this one left it. */
	// biome-ignore lint/suspicious/noExplicitAny: what a tool gives is known to its author
	readonly output: any;
	/** The error, if the status is not `done`. */
	readonly error?: unknown;
}

/** The replacement of a result. Without an `output` the model sees the text of the error. */
export type ToolResultReplacement =
	| { readonly status: "done"; readonly output: unknown }
	| { readonly status: "error" | "cancelled"; readonly error: unknown; readonly output?: unknown };

/** The argument of `assemble` handlers. */
export interface AssembleContext {
	readonly sessionKey: string;
	readonly caller?: Caller;
	readonly signal: AbortSignal;
	/** The messages for the model, after the handlers before this one. */
	readonly messages: readonly Message[];
}

/** Nothing, also where a handler has no `return`. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers that return nothing have this type
type Nothing = undefined | void;

/** The hooks by name. Return values of the lifecycle hooks are awaited and otherwise ignored. */
export interface PluginHooks {
	/** Before the first step. One that throws fails the run. */
	"turn.before"(context: TurnBeforeContext): unknown;
	/** Before each step. One that throws fails the run. */
	"step.before"(context: StepBeforeContext): unknown;
	/** After each step. One that throws fails the run. */
	"step.after"(context: StepAfterContext): unknown;
	/** After the end of the turn was committed. One that throws changes nothing. */
	"turn.after"(context: TurnAfterContext): unknown;
	/** Before a tool runs. The first decision other than `allow` and `modify` counts. One that throws fails the run. */
	"tool.call"(context: ToolCallContext): MaybePromise<ToolCallDecision | Nothing>;
	/** Before a result is recorded. One that throws fails the run. */
	"tool.result"(context: ToolResultContext): MaybePromise<ToolResultReplacement | Nothing>;
	/** Before the model is called: the messages it shall see in place of these. One that throws fails the run. */
	assemble(context: AssembleContext): MaybePromise<readonly Message[] | Nothing>;
	/** When a session is deleted: what the plugin keeps for it elsewhere goes too. One that throws fails the deletion. */
	"session.delete"(context: { readonly sessionKey: string }): unknown;
}

/** The name of a plugin's hook. */
export type HookName = keyof PluginHooks;

/** The argument of `setup`. It can be used while `setup` runs. */
export interface PluginHost {
	/**
	 * Listens to a hook. Handlers of one hook are called in the order in which they were registered.
	 * @throws HoldfastError `invalid_option` naming the plugin, for an unknown hook or a handler that is no function.
	 */
	on<Name extends HookName>(name: Name, handler: PluginHooks[Name]): void;
	/** Gives every session of the agent one more tool. */
	tool(tool: AnyTool): void;
	/**
	 * Says where sessions are kept.
	 * @throws HoldfastError `invalid_option` when a plugin before this one has said so already.
	 */
	sessionStore(store: unknown): void;
	/** This plugin's values of a session, invisible to other plugins. For hooks and tools, after `setup`. */
	values(sessionKey: string): SessionValues;
	/** Asks the agent's own model, apart from any conversation. For hooks and tools, after `setup`. */
	ask: AskModel;
}

/**
 * A plugin. `setup` registers hooks and tools; `events.on` observes all that runs emit: the run passes no boundary before
 * what it returns has settled, and what it throws changes nothing.
 */
export interface Plugin {
	/** Named in errors. Default: its place in the list. */
	readonly name?: string;
	setup?(host: PluginHost): void | Promise<void>;
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
 * @throws HoldfastError `invalid_option` with its problem.
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

/** @throws HoldfastError `invalid_option` for what is no list of plugins. */
export function checkPlugins(plugins: readonly Plugin[]): void {
	if (!Array.isArray(plugins))
		throw new HoldfastTypeError("invalid_option", "The option `plugins` must be a list of plugins.");
	for (const [at, plugin] of plugins.entries())
		checkPlugin(plugin, `The plugin at place ${at + 1} of \`plugins\``);
}

/** @throws HoldfastError `invalid_option` naming the plugin and what is wrong with it. */
function checkPlugin(plugin: Plugin, place: string): void {
	if (typeof plugin !== "object" || plugin === null) {
		throw new HoldfastTypeError(
			"invalid_option",
			`${place} is ${typeOf(plugin)}. Give an object, made by definePlugin({name, setup}).`,
		);
	}
	const { name, setup, events } = plugin;
	if (name !== undefined && (typeof name !== "string" || name === ""))
		throw new HoldfastTypeError(
			"invalid_option",
			`${place} has a \`name\` that is no text. Give a name, or none.`,
		);
	const named = name === undefined ? place : `The plugin "${name}"`;
	if (setup !== undefined && typeof setup !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`${named} has a \`setup\` that is ${typeOf(setup)}. Give a function.`,
		);
	if (events !== undefined && typeof events?.on !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`${named} has \`events\` without a function \`on\`. Give {on({event}) {…}}.`,
		);
}

function typeOf(value: unknown): string {
	return value === null ? "null" : `of type ${typeof value}`;
}

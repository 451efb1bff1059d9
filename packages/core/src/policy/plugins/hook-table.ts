// The handlers of each hook, in order, and the code that calls them. An error names its plugin.
import { HoldfastError, type Message } from "@holdfast/upp";
import type { PluginTurn } from "../policy-run.ts";
import type { HookContext, HookName, PluginHooks } from "./plugin.ts";

/** A handler and the plugin it belongs to. */
export interface Listener<Handler> {
	readonly plugin: string;
	readonly handler: Handler;
	/** Set if a handler of `tool.result` removes nothing from results. */
	readonly deltas?: "as-is";
}

/** The listeners of each hook, in the order of registration. */
export type HookTable = { [Name in HookName]?: Listener<PluginHooks[Name]>[] };

/** The names of all hooks. */
export const hookNames: readonly HookName[] = [
	"turn.before",
	"step.before",
	"step.after",
	"turn.after",
	"tool.call",
	"tool.result",
	"result.record",
	"assemble",
	"session.delete",
	"session.fork",
];

/** Whether a hook with this name exists. */
export function isHookName(name: unknown): name is HookName {
	return (hookNames as readonly unknown[]).includes(name);
}

/** Returns the result of `work`. If it throws, rejects with `plugin_failed`, naming the plugin and the hook. */
export async function guarded<T>(plugin: string, hook: string, work: () => T | PromiseLike<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw pluginFailed(plugin, hook, error);
	}
}

/** Creates the error of a plugin that failed in a hook. */
export function pluginFailed(plugin: string, hook: string, cause: unknown): HoldfastError {
	const message = `The plugin "${plugin}" failed in ${hook}: ${textOf(cause)}`;
	return new HoldfastError("plugin_failed", message, { cause, data: { plugin, hook } });
}

/** Creates the context of every handler in a turn. The history is built on access. */
export function hookContext(turn: PluginTurn, agentSessionKey: string = turn.sessionKey): HookContext {
	let history: readonly Message[] | undefined;
	return {
		sessionKey: turn.sessionKey,
		agentSessionKey,
		signal: turn.signal,
		...(turn.caller === undefined ? {} : { caller: turn.caller }),
		get history() {
			history ??= turn.history();
			return history;
		},
	};
}

/** Returns the message of an error, or a thrown value as text. */
export function textOf(error: unknown): string {
	if (error instanceof Error) return error.message;
	if (typeof error === "string") return error;
	try {
		return JSON.stringify(error) ?? String(error);
	} catch {
		return "a value that cannot be converted to text";
	}
}

// The handlers of each hook, in order, and how they are called: an error names its plugin.
import { HoldfastError, type Message } from "@holdfast/upp";
import type { PluginTurn } from "../policy-run.ts";
import type { HookContext, HookName, PluginHooks } from "./plugin.ts";

/** A handler and whose it is. */
export interface Listener<Handler> {
	readonly plugin: string;
	readonly handler: Handler;
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
	"assemble",
	"session.delete",
];

/** Whether there is a hook of that name. */
export function isHookName(name: unknown): name is HookName {
	return (hookNames as readonly unknown[]).includes(name);
}

/** What `work` gives. Rejects with `plugin_failed`, naming the plugin and the hook, for what it throws. */
export async function guarded<T>(plugin: string, hook: string, work: () => T | PromiseLike<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw pluginFailed(plugin, hook, error);
	}
}

/** The error of a plugin that failed at a hook. */
export function pluginFailed(plugin: string, hook: string, cause: unknown): HoldfastError {
	const message = `The plugin "${plugin}" failed in ${hook}: ${textOf(cause)}`;
	return new HoldfastError("plugin_failed", message, { cause, data: { plugin, hook } });
}

/** The context of every handler in a turn; the history is built on access. */
export function hookContext(turn: PluginTurn): HookContext {
	let history: readonly Message[] | undefined;
	return {
		sessionKey: turn.sessionKey,
		signal: turn.signal,
		...(turn.caller === undefined ? {} : { caller: turn.caller }),
		get history() {
			history ??= turn.history();
			return history;
		},
	};
}

/** The message of an error, or a thrown value as text. */
export function textOf(error: unknown): string {
	if (error instanceof Error) return error.message;
	if (typeof error === "string") return error;
	try {
		return JSON.stringify(error) ?? String(error);
	} catch {
		return "something that cannot be written as text";
	}
}

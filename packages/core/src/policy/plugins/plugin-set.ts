// The plugins of one agent, set up: what they add to it, and their hooks as stages of the one list of policy.
import { HoldfastError, isMessage, type Message } from "@holdfast/upp";
import type { AgentEvent, SendInput } from "../../facts/index.ts";
import { memoryValues, type ValueStore } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import type { Stages } from "../interceptor.ts";
import type { NamedStages } from "../join-stages.ts";
import type { PluginTurn } from "../policy-run.ts";
import type { AskModel } from "./ask-model.ts";
import { guarded, hookContext, type Listener, pluginFailed } from "./hook-table.ts";
import type { Overlay, Plugin, PluginHooks, TurnResult } from "./plugin.ts";
import { pluginHost, type Registry } from "./plugin-host.ts";
import { decideCall, replaceResult } from "./tool-hooks.ts";

/** A turn as its plugins see it. One object for each turn. */
export type TurnFrame = PluginTurn;

/** Plugins that were set up. */
export interface PluginSet {
	/** In the order of registration. */
	readonly tools: readonly AnyTool[];
	/** Where sessions shall be kept; undefined when no plugin said so. */
	readonly sessionStore: unknown | undefined;
	/** The stages of each hook. With `own-tools` the model carries out its tools itself, and no tool hook fires. */
	stages(turn: TurnFrame, tools?: "engine-tools" | "own-tools"): readonly NamedStages[];
	/** After the end of the turn is committed. Never rejects. */
	turnAfter(turn: TurnFrame, result: TurnResult): Promise<void>;
	/** Whether anybody looks on at events. */
	readonly looksOn: boolean;
	/** Gives an event to observers; settles when they are done with it, undefined when they are. Never throws or rejects. */
	notify(event: unknown, turn: TurnFrame): Promise<unknown> | undefined;
	/** Deletes what plugins keep for a session. Rejects with `plugin_failed`, or what the store of values throws. */
	deleted(sessionKey: string): Promise<void>;
}

/** Options of `setupPlugins` besides the plugins. */
export interface SetupOptions {
	/**
	 * Where plugins keep values, once it is known whether a plugin gave a session store. Default: in memory.
	 */
	values?(sessionStore: unknown): ValueStore;
	/** Asks the agent's own model. Default: rejects. */
	readonly ask?: AskModel;
	/** Called with what `turn.after` and `events.on` threw, for it changes nothing else. Default: a warning on the console. */
	onIgnoredError?(error: HoldfastError): void;
}

/**
 * Runs each plugin's `setup`, one after the other.
 *
 * Rejects with HoldfastError `plugin_failed` for a `setup` that threw.
 */
export async function setupPlugins(
	plugins: readonly Plugin[],
	options: SetupOptions = {},
): Promise<PluginSet> {
	const registry: Registry = {
		hooks: {},
		tools: [],
		onlookers: [],
		ask: options.ask ?? (() => Promise.reject(new Error("There is no model to ask."))),
		refusals: new WeakSet(),
	};
	for (const [at, plugin] of plugins.entries()) {
		const name = plugin.name ?? `plugin ${at + 1}`;
		if (plugin.events !== undefined)
			registry.onlookers.push({ plugin: name, handler: plugin.events.on.bind(plugin.events) });
		const { host, close } = pluginHost(registry, name);
		try {
			await plugin.setup?.(host);
		} catch (error) {
			if (registry.refusals.has(error as object)) throw error;
			throw pluginFailed(name, "setup", error);
		} finally {
			close();
		}
	}
	registry.values = options.values?.(registry.store?.store) ?? memoryValues();
	return pluginSet(registry, options.onIgnoredError ?? ((error) => console.warn(error.message)));
}

function pluginSet(registry: Registry, onIgnoredError: (error: HoldfastError) => void): PluginSet {
	const { hooks, tools, onlookers } = registry;
	/** Ended turns: they accept no further overlays. */
	const over = new WeakSet<TurnFrame>();
	const overlayOf =
		(turn: TurnFrame): Overlay =>
		(input) =>
			over.has(turn) ? Promise.reject(overlayClosed()) : turn.overlay(input);
	const after = hooks["turn.after"];
	return {
		tools,
		sessionStore: registry.store?.store,
		looksOn: onlookers.length > 0,
		stages(turn, whoseTools = "engine-tools") {
			const overlay = overlayOf(turn);
			const steer = (input: SendInput): Promise<unknown> => turn.steer(input);
			const step = (step: number): { stepIndex: number; overlay: Overlay } => ({
				stepIndex: step - 1,
				overlay,
			});
			const stages: readonly NamedStages[] = [
				...named(hooks["turn.before"], (listener) => ({
					turnBefore: () => call("turn.before", listener, Object.assign(hookContext(turn), { overlay })),
				})),
				...named(hooks["step.before"], (listener) => ({
					stepBefore: (at) => call("step.before", listener, Object.assign(hookContext(turn), step(at))),
				})),
				...named(hooks["step.after"], (listener) => ({
					stepAfter(at) {
						const result = "completed" as const;
						return call(
							"step.after",
							listener,
							Object.assign(hookContext(turn), { result, ...step(at), steer }),
						);
					},
				})),
				...named(hooks.assemble, (listener) => ({
					assemble: (messages) => assemble(listener, turn, messages),
				})),
			];
			if (whoseTools === "own-tools") return stages;
			return [
				...stages,
				...named(hooks["tool.call"], (listener) => ({
					toolCall: (given) => decideCall(listener, turn, given),
				})),
				...named(hooks["tool.result"], (listener) => ({
					toolResult: (given) => replaceResult(listener, turn, given),
				})),
			];
		},
		async turnAfter(turn, result) {
			over.add(turn);
			const overlay = overlayOf(turn);
			for (const listener of after ?? []) {
				const context = (): Context<"turn.after"> => Object.assign(hookContext(turn), { result, overlay });
				await call("turn.after", listener, context()).catch(onIgnoredError);
			}
		},
		notify(event, turn) {
			const heard: Promise<unknown>[] = [];
			for (const { plugin, handler } of onlookers) {
				const context = Object.assign(hookContext(turn), { event: event as AgentEvent });
				try {
					const given = handler(context);
					if (typeof (given as { then?: unknown } | undefined)?.then !== "function") continue;
					heard.push(guarded(plugin, "events.on", () => given).catch(onIgnoredError));
				} catch (error) {
					onIgnoredError(pluginFailed(plugin, "events.on", error));
				}
			}
			return heard.length === 0 ? undefined : Promise.all(heard);
		},
		async deleted(sessionKey) {
			await registry.values?.deleteSession(sessionKey);
			for (const { plugin, handler } of hooks["session.delete"] ?? [])
				await guarded(plugin, "session.delete", () => handler({ sessionKey }));
		},
	};
}

type Lifecycle = "turn.before" | "step.before" | "step.after" | "turn.after";
type Context<Name extends Lifecycle> = Parameters<PluginHooks[Name]>[0];

function named<Handler>(
	listeners: readonly Listener<Handler>[] = [],
	stages: (listener: Listener<Handler>) => Stages,
): readonly NamedStages[] {
	return listeners.map((listener) => ({ name: listener.plugin, stages: stages(listener) }));
}

/** Calls a handler, with a context of its own. */
async function call<Name extends Lifecycle>(
	hook: Name,
	{ plugin, handler }: Listener<PluginHooks[Name]>,
	context: Context<Name>,
): Promise<void> {
	const listen = handler as (context: Context<Name>) => unknown;
	await guarded(plugin, hook, () => listen(context));
}

async function assemble(
	{ plugin, handler }: Listener<PluginHooks["assemble"]>,
	{ sessionKey, signal, caller }: TurnFrame,
	messages: readonly Message[],
): Promise<readonly Message[]> {
	const context = { sessionKey, signal, messages, ...(caller === undefined ? {} : { caller }) };
	const replaced = await guarded(plugin, "assemble", () => handler(context));
	if (replaced === undefined || replaced === null) return messages;
	if (Array.isArray(replaced) && replaced.every(isMessage)) return replaced;
	const wrong = new TypeError("It returned no list of messages. Return messages, or nothing.");
	throw pluginFailed(plugin, "assemble", wrong);
}

function overlayClosed(): HoldfastError {
	return new HoldfastError(
		"overlay_closed",
		"The turn has ended, so overlay() has no effect. Call it from turn.before, step.before or step.after.",
	);
}

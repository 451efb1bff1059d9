// The plugins of one agent after setup: their contributions, and their hooks as stages of the policy list.
import { HoldfastError, isMessage, type Message } from "@holdfast/upp";
import type { AgentEvent, SendInput } from "../../facts/index.ts";
import { type FileStore, memoryHost, memoryValues, type ValueStore } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import { keepRequest, requestOf } from "../assembled-request.ts";
import type { InterceptedResult, Stages } from "../interceptor.ts";
import type { NamedStages } from "../join-stages.ts";
import { isOwnView } from "../own-views.ts";
import type { PluginTurn } from "../policy-run.ts";
import type { AskModel } from "./ask-model.ts";
import { guarded, hookContext, type Listener, pluginFailed } from "./hook-table.ts";
import type { InstructionsFunction, Overlay, Plugin, PluginHooks, TurnResult } from "./plugin.ts";
import { pluginHost, type Registry } from "./plugin-host.ts";
import { decideCall, recordStages, replaceResult } from "./tool-hooks.ts";

/** A turn in the form that its plugins see. One object per turn. */
export type TurnFrame = PluginTurn;

/** Plugins after setup. */
export interface PluginSet {
	/** In the order of registration. */
	readonly tools: readonly AnyTool[];
	/** The members of `tools` that are offered in calls too. */
	readonly callTools: readonly AnyTool[];
	/** Sections to add to the agent's instructions, in the order of registration. */
	readonly instructions: readonly (string | InstructionsFunction)[];
	/** Where to store sessions; undefined if no plugin specified it. */
	readonly sessionStore: unknown | undefined;
	/**
	 * Returns the stages of each hook. `agentSessionKey` is the key of the session of the plugins' agent. Default: that of
	 * the turn.
	 */
	stages(turn: TurnFrame, agentSessionKey?: string): readonly NamedStages[];
	/** Called after the end of the turn is committed. Never rejects. */
	turnAfter(turn: TurnFrame, result: TurnResult): Promise<void>;
	/** Whether any plugin observes events. */
	readonly looksOn: boolean;
	/**
	 * Passes an event to observers. Returns a promise that settles when they have processed it, or undefined if they
	 * already have. Never throws or rejects.
	 */
	notify(event: unknown, turn: TurnFrame): Promise<unknown> | undefined;
	/**
	 * Deletes what plugins store for a session. Rejects with `plugin_failed`, or with an error of the store of values.
	 */
	deleted(sessionKey: string): Promise<void>;
	/** Copies what plugins store for a session to its fork. Rejects with `plugin_failed`. */
	forked(sessionKey: string, forkKey: string, history: () => Promise<readonly Message[]>): Promise<void>;
}

/** Options of `setupPlugins`, in addition to the plugins. */
export interface SetupOptions {
	/**
	 * Returns where plugins store values, once it is known whether a plugin provides a session store. Default: in memory.
	 */
	values?(sessionStore: unknown): ValueStore;
	/** Returns where plugins store files, at the same time. Default: in memory. */
	files?(sessionStore: unknown): FileStore;
	/** Asks the agent's own model. Default: a function that rejects. */
	readonly ask?: AskModel;
	/**
	 * Called with errors of `turn.after` and `events.on`, which have no other effect. Default: a warning on the console.
	 */
	onIgnoredError?(error: HoldfastError): void;
}

/**
 * Runs each plugin's `setup`, one after the other.
 *
 * Rejects with HoldfastError `plugin_failed` if a `setup` throws.
 */
export async function setupPlugins(
	plugins: readonly Plugin[],
	options: SetupOptions = {},
): Promise<PluginSet> {
	const registry: Registry = {
		hooks: {},
		tools: [],
		callTools: [],
		instructions: [],
		onlookers: [],
		ask: options.ask ?? (() => Promise.reject(new Error("No model is available."))),
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
	registry.files = options.files?.(registry.store?.store) ?? memoryHost().files;
	return pluginSet(registry, options.onIgnoredError ?? ((error) => console.warn(error.message)));
}

function pluginSet(registry: Registry, onIgnoredError: (error: HoldfastError) => void): PluginSet {
	const { hooks, tools, callTools, instructions, onlookers } = registry;
	/** Ended turns: they accept no further overlays. */
	const over = new WeakSet<TurnFrame>();
	const overlayOf =
		(turn: TurnFrame): Overlay =>
		(input) =>
			over.has(turn) ? Promise.reject(overlayClosed()) : turn.overlay(input);
	const after = hooks["turn.after"];
	return {
		tools,
		callTools,
		instructions,
		sessionStore: registry.store?.store,
		looksOn: onlookers.length > 0,
		stages(turn, agentSessionKey = turn.sessionKey) {
			const overlay = overlayOf(turn);
			const steer = (input: SendInput): Promise<unknown> => turn.steer(input);
			const step = (step: number): { stepIndex: number; overlay: Overlay } => ({
				stepIndex: step - 1,
				overlay,
			});
			return [
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
					assemble: (messages, request) => assemble(listener, turn, messages, request),
				})),
				...named(hooks["tool.call"], (listener) => ({
					toolCall: (given) => decideCall(listener, turn, agentSessionKey, given),
				})),
				...(hooks["tool.result"] ?? []).map((listener) => ({
					name: listener.plugin,
					stages: {
						toolResult: (given: InterceptedResult) => replaceResult(listener, turn, agentSessionKey, given),
					},
					...(listener.deltas && { addsToResults: true as const }),
				})),
				// A sub-agent has other tools, and a script needs whole results: the sub-agent's or script's own policy decides what is recorded of them.
				...named(hooks["result.record"], (listener) => recordStages(listener, turn)).map((each) => ({
					...each,
					notBelow: true as const,
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
		async forked(sessionKey, forkKey, historyOf) {
			const listeners = hooks["session.fork"];
			if (listeners === undefined) return;
			const history = await historyOf();
			for (const { plugin, handler } of listeners)
				await guarded(plugin, "session.fork", () => handler({ sessionKey, forkKey, history }));
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

/** Calls a handler with its own context. */
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
	given: unknown,
): Promise<readonly Message[]> {
	const request = requestOf(given, messages);
	const countTokens = (of: readonly Message[]): number => request.countTokens(of);
	const about = caller === undefined ? {} : { caller };
	const context = { sessionKey, signal, messages, countTokens, ...about };
	keepRequest(context, request);
	const replaced = await guarded(plugin, "assemble", () => handler(context));
	if (replaced === undefined || replaced === null || replaced === messages) return messages;
	if (Array.isArray(replaced) && (isOwnView(replaced) || replaced.every(isMessage))) return replaced;
	const wrong = new TypeError("It returned no list of messages. Return messages, or nothing.");
	throw pluginFailed(plugin, "assemble", wrong);
}

function overlayClosed(): HoldfastError {
	return new HoldfastError(
		"overlay_closed",
		"The turn has ended, so overlay() has no effect. Call it from turn.before, step.before or step.after.",
	);
}

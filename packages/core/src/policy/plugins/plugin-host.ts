// The host that a plugin's `setup` receives, and the registry that collects its registrations.

import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import type { FileStore, ValueStore } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import { callKey } from "../policy-run.ts";
import type { AskModel } from "./ask-model.ts";
import { type HookTable, hookNames, isHookName, type Listener } from "./hook-table.ts";
import type { InstructionsFunction, Plugin, PluginHost, PluginToolOptions, ToolSession } from "./plugin.ts";

const hookOptionNames = optionNames<{ readonly deltas?: "as-is" }>({ deltas: ["as-is"] });
const toolOptionNames = optionNames<PluginToolOptions>({ in: true });

/** The registrations of one agent's plugins. */
export interface Registry {
	readonly hooks: HookTable;
	readonly tools: AnyTool[];
	/** The members of `tools` that are offered in calls too. */
	readonly callTools: AnyTool[];
	readonly instructions: (string | InstructionsFunction)[];
	readonly onlookers: Listener<NonNullable<Plugin["events"]>["on"]>[];
	store?: { readonly plugin: string; readonly store: unknown };
	/** Set after the last plugin is set up, because a plugin may determine where sessions are stored. */
	values?: ValueStore;
	/** Set at the same time. */
	files?: FileStore;
	readonly ask: AskModel;
	/** The TypeErrors thrown by plugin hosts, which already name their plugin. */
	readonly refusals: WeakSet<object>;
}

/** Creates a host for the plugin with that name, and a function that closes it when its setup has ended. */
export function pluginHost(registry: Registry, plugin: string): { host: PluginHost; close(): void } {
	const { hooks, tools, callTools, instructions, refusals } = registry;
	let open = true;
	const refuse = (message: string): never => {
		const error = new HoldfastTypeError("invalid_option", `The plugin "${plugin}" ${message}`);
		refusals.add(error);
		throw error;
	};
	const whileOpen = (method: string): void => {
		if (!open) refuse(`called host.${method}() after its setup had ended. Call it within setup.`);
	};
	const host: PluginHost = {
		on(hook, handler, options) {
			whileOpen("on");
			if (!isHookName(hook))
				return refuse(`listens to "${String(hook)}", which is not a hook. Hooks: ${hookNames.join(", ")}.`);
			if (typeof handler !== "function") refuse(`listens to "${hook}" with a value that is not a function.`);
			const { deltas }: { readonly deltas?: "as-is" } = options ?? {};
			checkOptions(options ?? {}, hookOptionNames, { of: "host.on()" });
			if (deltas !== undefined && hook !== "tool.result")
				refuse(`gives \`deltas\` with "${hook}". Only "tool.result" has this option.`);
			const listeners = (hooks[hook] ?? []) as Listener<typeof handler>[];
			listeners.push({ plugin, handler, ...(deltas && { deltas }) });
			Object.assign(hooks, { [hook]: listeners });
		},
		tool(tool, options = {}) {
			whileOpen("tool");
			checkOptions(options, toolOptionNames, { of: "host.tool()" });
			const { in: where = "sessions" } = options;
			if (where !== "sessions" && where !== "sessions-and-calls")
				refuse('gives a tool with an `in` that is neither "sessions" nor "sessions-and-calls".');
			tools.push(tool);
			if (where === "sessions-and-calls") callTools.push(tool);
		},
		instructions(text) {
			whileOpen("instructions");
			if (typeof text !== "function" && (typeof text !== "string" || text === ""))
				refuse("gives instructions that are neither a text nor a function.");
			instructions.push(text);
		},
		sessionStore(store) {
			whileOpen("sessionStore");
			if (registry.store !== undefined)
				refuse(`gives a session store, but "${registry.store.plugin}" already gave one. Use one of them.`);
			registry.store = { plugin, store };
		},
		values: (of) =>
			registry.values?.values(keyOf(of), plugin) ??
			refuse("called host.values() before the setup of all plugins was over. Call it in hooks and tools."),
		files: (of) =>
			registry.files?.of(keyOf(of), plugin) ??
			refuse("called host.files() before the setup of all plugins was over. Call it in hooks and tools."),
		ask: registry.ask,
	};
	return {
		host,
		close() {
			open = false;
		},
	};
}

/** @throws HoldfastError `invalid_argument` for what is neither a key nor the context of a tool. */
function keyOf(of: string | ToolSession): string {
	if (typeof of === "string") return of;
	const { sessionKey, runId }: Partial<ToolSession> = of ?? {};
	if (sessionKey !== undefined) return sessionKey;
	if (runId !== undefined) return callKey(runId);
	throw new HoldfastTypeError(
		"invalid_argument",
		"host.values() and host.files() take the `sessionKey` of a hook, or the context of a tool.",
	);
}

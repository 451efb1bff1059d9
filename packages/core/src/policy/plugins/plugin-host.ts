// The host that a plugin's `setup` receives, and the registry that collects its registrations.

import { HoldfastTypeError } from "@holdfast/upp";
import type { ValueStore } from "../../host/index.ts";
import type { AnyTool } from "../../tools/index.ts";
import type { AskModel } from "./ask-model.ts";
import { type HookTable, hookNames, isHookName, type Listener } from "./hook-table.ts";
import type { Plugin, PluginHost } from "./plugin.ts";

/** The registrations of one agent's plugins. */
export interface Registry {
	readonly hooks: HookTable;
	readonly tools: AnyTool[];
	readonly onlookers: Listener<NonNullable<Plugin["events"]>["on"]>[];
	store?: { readonly plugin: string; readonly store: unknown };
	/** Set after the last plugin is set up, because a plugin may determine where sessions are stored. */
	values?: ValueStore;
	readonly ask: AskModel;
	/** The TypeErrors thrown by plugin hosts, which already name their plugin. */
	readonly refusals: WeakSet<object>;
}

/** Creates a host for the plugin with that name, and a function that closes it when its setup has ended. */
export function pluginHost(registry: Registry, plugin: string): { host: PluginHost; close(): void } {
	const { hooks, tools, refusals } = registry;
	let open = true;
	const refuse = (message: string): never => {
		const error = new HoldfastTypeError("invalid_option", `The plugin "${plugin}" ${message}`);
		refusals.add(error);
		throw error;
	};
	const whileOpen = (method: string): void => {
		if (!open) refuse(`called host.${method}() after its setup was over. Call it within setup.`);
	};
	const host: PluginHost = {
		on(hook, handler) {
			whileOpen("on");
			if (!isHookName(hook))
				return refuse(`listens to "${String(hook)}", which is no hook. Hooks: ${hookNames.join(", ")}.`);
			if (typeof handler !== "function") refuse(`listens to "${hook}" with what is no function.`);
			const listeners = (hooks[hook] ?? []) as Listener<typeof handler>[];
			listeners.push({ plugin, handler });
			Object.assign(hooks, { [hook]: listeners });
		},
		tool(tool) {
			whileOpen("tool");
			tools.push(tool);
		},
		sessionStore(store) {
			whileOpen("sessionStore");
			if (registry.store !== undefined)
				refuse(
					`gives a session store, and "${registry.store.plugin}" has given one already. Give one of them.`,
				);
			registry.store = { plugin, store };
		},
		values: (sessionKey) =>
			registry.values?.values(sessionKey, plugin) ??
			refuse("called host.values() before the setup of all plugins was over. Call it in hooks and tools."),
		ask: registry.ask,
	};
	return {
		host,
		close() {
			open = false;
		},
	};
}

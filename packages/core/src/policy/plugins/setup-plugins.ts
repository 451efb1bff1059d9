// Loads the plugin setup only if an agent has plugins.
import type { Plugin } from "./plugin.ts";
import type { PluginSet, SetupOptions } from "./plugin-set.ts";

/**
 * Runs each plugin's `setup`, one after the other.
 *
 * Rejects with HoldfastError `plugin_failed` if a `setup` throws.
 */
export async function setupPlugins(
	plugins: readonly Plugin[],
	options: SetupOptions = {},
): Promise<PluginSet> {
	const loaded = await import("./plugin-set.ts");
	return loaded.setupPlugins(plugins, options);
}

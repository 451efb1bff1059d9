// Plugins are set up by what is loaded with the first of them: agents without any never load it.
import type { Plugin } from "./plugin.ts";
import type { PluginSet, SetupOptions } from "./plugin-set.ts";

/**
 * Runs each plugin's `setup`, one after the other.
 *
 * Rejects with HoldfastError `plugin_failed` for a `setup` that threw.
 */
export async function setupPlugins(
	plugins: readonly Plugin[],
	options: SetupOptions = {},
): Promise<PluginSet> {
	const loaded = await import("./plugin-set.ts");
	return loaded.setupPlugins(plugins, options);
}

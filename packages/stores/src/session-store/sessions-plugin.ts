// Session stores as plugins.
import { HoldfastTypeError } from "@holdfast/upp";
import { definePlugin, type Plugin } from "holdfast/plugins";

/** Plugins that choose a session store. */
export const sessions: {
	/**
	 * Stores sessions as files in a folder, which is created on first use: a FileSessionStore. Do not combine it with the
	 * option `host.sessionStore`.
	 *
	 * @example
	 * import { openai } from "@ai-sdk/openai";
	 * import { Agent } from "holdfast";
	 * import { sessions } from "@holdfast/stores";
	 *
	 * const clerk = await Agent.create({ model: openai("gpt-5.2"), plugins: [sessions.file("sessions")] });
	 */
	file(dir: string): Plugin;
} = {
	file(dir) {
		if (typeof dir !== "string" || dir === "")
			throw new HoldfastTypeError("invalid_argument", "sessions.file(dir) takes the path of a folder.");
		return definePlugin({
			name: "sessions.file",
			async setup(host) {
				// Loaded only here, so that the other plugins run without a file system.
				const { FileSessionStore } = await import("./file-session-store.ts");
				host.sessionStore(new FileSessionStore(dir));
			},
		});
	},
};

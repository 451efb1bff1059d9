// Notes that a model keeps for the session it works in: three tools over the session's values.

import type { SessionValues, ValueStore } from "../../host/index.ts";
import { type AnyTool, type ToolContext, tool } from "../../tools/index.ts";
import { definePlugin, type Plugin } from "./plugin.ts";

/** Options of `memory`. */
export interface MemoryOptions {
	/** Where notes are kept. Default: where the sessions are kept. */
	readonly store?: ValueStore;
}

/**
 * Gives the model `memory_set`, `memory_load` and `memory_search`: notes under names, of its session only. They are
 * deleted with the session.
 *
 * @see keyed sessions, "Plugins, Session Storage, Memory, And Compaction"
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { memory } from "holdfast/plugins";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [memory()] });
 */
export function memory(options: MemoryOptions = {}): Plugin {
	const { store } = options;
	return definePlugin({
		name: "memory",
		setup(host) {
			const notesOf = ({ sessionKey }: ToolContext): SessionValues => {
				if (sessionKey === undefined) throw new Error("There is no session that notes could belong to.");
				return store === undefined ? host.values(sessionKey) : store.values(sessionKey, "memory");
			};
			for (const each of memoryTools(notesOf)) host.tool(each);
			if (store !== undefined) host.on("session.delete", ({ sessionKey }) => store.deleteSession(sessionKey));
		},
	});
}

function memoryTools(notesOf: (context: ToolContext) => SessionValues): readonly AnyTool[] {
	return [
		tool<{ name: string; text: string }>({
			name: "memory_set",
			description:
				"Keeps a note under a name, in place of one that was there. Notes outlast this conversation's context.",
			parameters: {
				type: "object",
				properties: { name: { type: "string", minLength: 1 }, text: { type: "string" } },
				required: ["name", "text"],
			},
			retryPolicy: "idempotent",
			async run({ name, text }, context) {
				await notesOf(context).set(name, text);
				return `Kept as "${name}".`;
			},
		}),
		tool<{ name: string }>({
			name: "memory_load",
			description: "Gives the note that is kept under a name.",
			parameters: {
				type: "object",
				properties: { name: { type: "string", minLength: 1 } },
				required: ["name"],
			},
			retryPolicy: "pure",
			async run({ name }, context) {
				return (await notesOf(context).get(name)) ?? `There is no note "${name}".`;
			},
		}),
		tool<{ query?: string }>({
			name: "memory_search",
			description: "Finds notes whose name or text has all words of the query; without a query, all notes.",
			parameters: { type: "object", properties: { query: { type: "string" } } },
			retryPolicy: "pure",
			async run({ query = "" }, context) {
				const words = query.toLowerCase().split(/\s+/);
				const notes = (await notesOf(context).list()).map(({ name, value }) => ({
					name,
					text: String(value),
				}));
				return notes.filter(({ name, text }) => {
					const searched = `${name}\n${text}`.toLowerCase();
					return words.every((word) => searched.includes(word));
				});
			},
		}),
	];
}

// Notes that a model keeps, for its session or for all sessions of its agent: three tools over the session's values, or
// over a collection of a database client.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { SessionValues, ValueStore } from "../../host/index.ts";
import { type AnyTool, type ToolContext, tool } from "../../tools/index.ts";
import { definePlugin, type Plugin } from "./plugin.ts";

/** The part of a database client that is used here, such as that of @holdfast/memory. */
export interface NoteDatabase {
	/** Stores a note under a key of a collection. */
	write(collection: string, key: string, value: unknown): Promise<void>;
	/** Returns a note; null or undefined if it does not exist. */
	read(collection: string, key: string): Promise<unknown>;
	/** Returns the notes whose members equal those of the query. */
	query(collection: string, query: Readonly<Record<string, unknown>>): Promise<unknown[]>;
	/** Finds notes by rank. Without it, notes that contain all words are found. */
	search?(text: string, options: { readonly collection: string }): Promise<unknown[]>;
}

/** Options of `memory`. */
export interface MemoryOptions {
	/** Where notes are stored. Default: where the sessions are stored. */
	readonly store?: ValueStore;
	/** Keeps notes beyond their session: all sessions with the same `collection` share them. Not with `store`. */
	readonly database?: NoteDatabase;
	/**
	 * The collection of `database`, or a function that returns it for a session, for example one per user. Default:
	 * `notes`.
	 */
	readonly collection?: string | ((sessionKey: string) => string);
}

interface Note {
	readonly name: string;
	readonly text: string;
}

/** The notes of one session. */
interface Notes {
	set(name: string, text: string): Promise<void>;
	load(name: string): Promise<unknown>;
	search(query: string): Promise<readonly Note[]>;
}

const memoryNames = optionNames<MemoryOptions>({ store: "object", database: "object", collection: true });

/**
 * Provides the tools `memory_set`, `memory_load` and `memory_search` for named notes. By default, notes belong to a
 * session and are deleted with it. With `database`, all sessions that use the same collection share them permanently.
 *
 * @throws HoldfastError `invalid_option` for `store` together with `database`.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { memory } from "holdfast/plugins";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [memory()] });
 */
export function memory(options: MemoryOptions = {}): Plugin {
	checkOptions(options, memoryNames, { of: "memory()" });
	const { store, database } = options;
	if (store !== undefined && database !== undefined)
		throw new HoldfastError("invalid_option", "Notes are kept in `store` or in `database`, not in both.");
	if (!["undefined", "string", "function"].includes(typeof options.collection))
		throw new HoldfastError(
			"invalid_option",
			"The option `collection` of memory() must be a string or a function.",
		);
	return definePlugin({
		name: "memory",
		setup(host) {
			const notesOf = ({ sessionKey }: ToolContext): Notes => {
				if (sessionKey === undefined) throw new Error("Notes need a session, and this call has none.");
				if (database !== undefined) return sharedNotes(database, collectionOf(options, sessionKey));
				return sessionNotes(
					store === undefined ? host.values(sessionKey) : store.values(sessionKey, "memory"),
				);
			};
			for (const each of memoryTools(notesOf)) host.tool(each);
			if (store !== undefined) host.on("session.delete", ({ sessionKey }) => store.deleteSession(sessionKey));
		},
	});
}

function collectionOf({ collection = "notes" }: MemoryOptions, sessionKey: string): string {
	return typeof collection === "string" ? collection : collection(sessionKey);
}

function sessionNotes(values: SessionValues): Notes {
	return {
		set: async (name, text) => values.set(name, text),
		load: async (name) => values.get(name),
		async search(query) {
			const all = await values.list();
			return withAllWords(
				all.map(({ name, value }) => ({ name, text: String(value) })),
				query,
			);
		},
	};
}

function sharedNotes(database: NoteDatabase, collection: string): Notes {
	return {
		set: (name, text) => database.write(collection, name, { name, text }),
		load: async (name) => ((await database.read(collection, name)) as Note | null)?.text,
		async search(query) {
			if (query.trim() !== "" && database.search !== undefined)
				return (await database.search(query, { collection })).map(
					(match) => (match as { value: Note }).value,
				);
			return withAllWords((await database.query(collection, {})) as Note[], query);
		},
	};
}

function withAllWords(notes: readonly Note[], query: string): readonly Note[] {
	const words = query.toLowerCase().split(/\s+/);
	return notes.filter(({ name, text }) => {
		const searched = `${name}\n${text}`.toLowerCase();
		return words.every((word) => searched.includes(word));
	});
}

function memoryTools(notesOf: (context: ToolContext) => Notes): readonly AnyTool[] {
	return [
		tool<Note>({
			name: "memory_set",
			description:
				"Saves a note under a name, replacing any earlier note of that name. Notes outlast this conversation's context.",
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
			description: "Returns the note saved under a name.",
			parameters: {
				type: "object",
				properties: { name: { type: "string", minLength: 1 } },
				required: ["name"],
			},
			retryPolicy: "pure",
			async run({ name }, context) {
				return (await notesOf(context).load(name)) ?? `There is no note "${name}".`;
			},
		}),
		tool<{ query?: string }>({
			name: "memory_search",
			description:
				"Finds notes by the words of the query in their names and texts; without a query, all notes.",
			parameters: { type: "object", properties: { query: { type: "string" } } },
			retryPolicy: "pure",
			run: ({ query = "" }, context) => notesOf(context).search(query),
		}),
	];
}

// Checkpoints in a SQLite file. Each message is stored once, however many checkpoints include it: a checkpoint is a small
// row that refers to the rows of its lists by ranges (keeps I5). Each save is one transaction; a store performs saves in
// the order of the calls.
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import { fromStored, isBusy, openDatabase, toStored } from "../../sqlite/index.ts";
import type { AgentStateJSON } from "../../state/index.ts";
import { agentOfCheckpoint, type CheckpointMetadata, type CheckpointStore } from "../checkpoint-store.ts";
import { checkpointCorrupt, checkpointFile } from "./checkpoint-file.ts";
import { readRanges, toRanges } from "./number-ranges.ts";
import { noItems, placeItems, type StoredItems } from "./place-items.ts";

/** Options of `sqliteCheckpoints`. */
export interface SqliteCheckpointOptions {
	/** The file. It and its folders are created if they are missing; the file is readable only by its user. */
	readonly path: string;
	/**
	 * The failures that a save survives. `process` (default): the death of the process at any moment. `power`: also a
	 * power failure, at the cost of a disk flush per save.
	 */
	readonly durability?: "process" | "power";
	/** The maximum size of the file in bytes; saves beyond it reject with `checkpoint_failed`. Default: no limit. */
	readonly maxFileSize?: number;
}

const sqliteCheckpointsNames = optionNames<SqliteCheckpointOptions>({
	path: true,
	durability: true,
	maxFileSize: true,
});

/** Checkpoints in a SQLite file. */
export interface SqliteCheckpoints extends CheckpointStore {
	loadMetadata(sessionId: string): Promise<CheckpointMetadata | null>;
	/** The file, as an absolute path. */
	readonly path: string;
	/** Resolves once everything so far is stored or has failed. */
	flush(): Promise<void>;
	/** Closes the file once all pending saves are done. Later ones reject with `checkpoints_closed`. */
	close(): Promise<void>;
}

/** The members of a state that are lists. A checkpoint's row stores each as ranges of numbers. */
const listNames = ["messages", "reasoning", "subagentTraces"] as const;
type ListName = (typeof listNames)[number];

/** A state to be written: copied immediately, so that later changes by the caller have no effect. */
interface Written {
	readonly rest: Readonly<Record<string, unknown>>;
	readonly lists: ReadonlyMap<
		ListName,
		{ readonly bodies: readonly string[]; readonly digests: readonly string[] }
	>;
}

/** The member of a checkpoint's row that names the agent that saved it; no member of a state has this name. */
const savedBy = "$savedBy";

/** The known rows of a session, while its checkpoint is still the latest. */
interface Known {
	readonly checkpointId: string;
	readonly lists: ReadonlyMap<ListName, StoredItems>;
}

/** For how many sessions a store remembers the rows; for others they are read again when they are saved. */
const remembered = 64;
/** How long a call waits for another process's lock, in milliseconds. */
const patience = 30_000;

/**
 * Creates a store of checkpoints in one SQLite file, for one machine: any number of stores and processes may open it at
 * once. The size of a session depends on its messages, not on how often it was saved. Session ids may be any text.
 *
 * `save`, `load`, `delete` and `list` reject with `checkpoint_failed` (retryable) if the file cannot be used, and `load`
 * with `checkpoint_corrupt` if it is damaged.
 *
 * @throws HoldfastError `checkpoint_foreign`, `checkpoint_newer`, `checkpoint_corrupt`, `checkpoint_failed` if the file
 * cannot be opened; it is not changed then.
 * @example
 * const store = sqliteCheckpoints("./checkpoints.db");
 * const saved = await store.load("my-session");
 * const state = saved === null ? AgentState.initial() : AgentState.fromJSON(saved);
 * await store.save("my-session", state.withMetadata("sessionId", "my-session").toJSON());
 * await store.close();
 */
export function sqliteCheckpoints(options: string | SqliteCheckpointOptions): SqliteCheckpoints {
	const { path: given, durability = "process", maxFileSize } = readOptions(options);
	const path = given === ":memory:" || given === "" ? given : resolve(given);
	const limits = maxFileSize === undefined ? {} : { maxFileSize };
	const database = openDatabase({ path, durability, ...limits }, checkpointFile);
	const statements = {
		find: database.prepare("SELECT id, checkpoint_id, saved_at, body FROM sessions WHERE name = ?"),
		names: database.prepare("SELECT name FROM sessions ORDER BY name"),
		insert: database.prepare(
			"INSERT INTO sessions (name, checkpoint_id, saved_at, body) VALUES (?, ?, ?, ?)",
		),
		update: database.prepare("UPDATE sessions SET checkpoint_id = ?, saved_at = ?, body = ? WHERE id = ?"),
		remove: database.prepare("DELETE FROM sessions WHERE id = ?"),
		addItem: database.prepare("INSERT INTO items (session, list, number, body) VALUES (?, ?, ?, ?)"),
		items: database.prepare("SELECT number, body FROM items WHERE session = ? AND list = ? ORDER BY number"),
		range: database.prepare(
			"SELECT body FROM items WHERE session = ? AND list = ? AND number BETWEEN ? AND ? ORDER BY number",
		),
		dropRange: database.prepare(
			"DELETE FROM items WHERE session = ? AND list = ? AND number BETWEEN ? AND ?",
		),
		dropItems: database.prepare("DELETE FROM items WHERE session = ?"),
	};
	const known = new Map<string, Known>();
	let closing: Promise<void> | undefined;
	let last: Promise<unknown> = Promise.resolve();

	interface SessionRow {
		readonly id: number;
		readonly checkpoint_id: string;
		readonly saved_at: number;
		readonly body: string;
	}
	const find = (name: string): SessionRow | undefined =>
		statements.find.get(name) as unknown as SessionRow | undefined;

	/** Runs the work after earlier work, in one transaction. Repeats it while another process holds the lock. */
	function inTurn<T>(mode: "DEFERRED" | "IMMEDIATE", work: () => T): Promise<T> {
		if (closing !== undefined) return Promise.reject(closed());
		const done = last.then(async () => {
			const end = performance.now() + patience;
			for (let pause = 1; ; pause = Math.min(20, pause * 2)) {
				try {
					return transact(mode, work);
				} catch (error) {
					if (!isBusy(error) || performance.now() > end) throw checkpointFile.errorOf(error);
				}
				await setTimeout(pause);
			}
		});
		last = done.catch(() => {}); // the caller gets the error
		return done;
	}

	function transact<T>(mode: "DEFERRED" | "IMMEDIATE", work: () => T): T {
		database.exec(`BEGIN ${mode}`);
		try {
			const result = work();
			database.exec("COMMIT");
			return result;
		} catch (error) {
			try {
				database.exec("ROLLBACK");
			} catch {
				// A full disk causes an automatic rollback.
			}
			throw error;
		}
	}

	/** Reads the rows of a session's list. */
	function readItems(session: number, list: ListName): StoredItems {
		const rows = statements.items.all(session, list) as { number: number; body: string }[];
		return { numbers: rows.map(({ number }) => number), digests: rows.map(({ body }) => digestOf(body)) };
	}

	function write(name: string, { rest, lists }: Written): Known {
		const row = find(name);
		const checkpointId = globalThis.crypto.randomUUID();
		const now = Date.now();
		const session = row?.id ?? Number(statements.insert.run(name, checkpointId, now, "").lastInsertRowid);
		const before = known.get(name);
		const isLatest = before !== undefined && before.checkpointId === row?.checkpoint_id;
		const after = new Map<ListName, StoredItems>();
		const body: Record<string, unknown> = { ...rest };
		for (const list of listNames) {
			const { bodies = [], digests = [] } = lists.get(list) ?? {};
			const old = isLatest ? before.lists.get(list) : row && readItems(session, list);
			const { stored, added, dropped } = placeItems(old ?? noItems, digests);
			for (const [first, end] of readRanges(toRanges(dropped)) ?? []) {
				statements.dropRange.run(session, list, first, end);
			}
			for (const at of added) {
				statements.addItem.run(session, list, stored.numbers[at] as number, bodies[at] as string);
			}
			after.set(list, stored);
			if (lists.has(list)) body[list] = toRanges(stored.numbers);
		}
		statements.update.run(checkpointId, now, JSON.stringify(body), session);
		return { checkpointId, lists: after };
	}

	function read(name: string): AgentStateJSON | null {
		const row = find(name);
		if (row === undefined) return null;
		const { [savedBy]: _, ...state } = parse(row.body) as Record<string, unknown>;
		for (const list of listNames) {
			if (state[list] === undefined) continue;
			const ranges = readRanges(String(state[list]));
			if (ranges === undefined) throw checkpointCorrupt(`"${list}" is not a list of ranges`);
			state[list] = ranges.flatMap(([first, end]) => {
				const rows = statements.range.all(row.id, list, first, end) as { body: string }[];
				if (rows.length !== end - first + 1) throw checkpointCorrupt(`items of "${list}" are missing`);
				return rows.map(({ body }) => parse(body));
			});
		}
		return state as unknown as AgentStateJSON;
	}

	function describe(sessionId: string): CheckpointMetadata | null {
		const row = find(nameOf(sessionId));
		if (row === undefined) return null;
		const { step, [savedBy]: agentId } = parse(row.body) as { step: number; [savedBy]?: string };
		const timestamp = new Date(row.saved_at).toISOString();
		const about = { sessionId, checkpointId: row.checkpoint_id, timestamp, step };
		return agentId === undefined ? about : { ...about, agentId };
	}

	return {
		path,
		async save(sessionId, state) {
			const name = nameOf(sessionId);
			const written = writeDown(state);
			const saved = await inTurn("IMMEDIATE", () => write(name, written));
			known.delete(name);
			known.set(name, saved);
			if (known.size > remembered) known.delete(known.keys().next().value as string);
		},
		async load(sessionId) {
			const name = nameOf(sessionId);
			return inTurn("DEFERRED", () => read(name));
		},
		loadMetadata: async (sessionId) => inTurn("DEFERRED", () => describe(sessionId)),
		async delete(sessionId) {
			const name = nameOf(sessionId);
			await inTurn("IMMEDIATE", () => {
				const row = find(name);
				if (row === undefined) return;
				statements.dropItems.run(row.id);
				statements.remove.run(row.id);
			});
			known.delete(name);
		},
		list: async () =>
			inTurn("DEFERRED", () =>
				(statements.names.all() as { name: string }[]).map(({ name }) => fromStored(name)),
			),
		async flush() {
			let waited: unknown;
			// A caller that saves states one after the other enqueues the next one when the last is done.
			while (waited !== last) {
				waited = last;
				await last;
				await setTimeout(0);
			}
		},
		close() {
			closing ??= last.then(() => database.close());
			return closing;
		},
	};
}

/** Serialises a state. */
function writeDown(state: AgentStateJSON): Written {
	if (typeof state !== "object" || state === null || !Object.hasOwn(state, "messages")) {
		throw invalidInput("A state to save must be the return value of toJSON()", state);
	}
	const lists = new Map<ListName, { bodies: string[]; digests: string[] }>();
	for (const name of listNames) {
		const items: unknown = state[name];
		if (items === undefined) continue;
		if (!Array.isArray(items)) throw invalidInput(`\`${name}\` of a state is a list`, items);
		const bodies = items.map((item: unknown) => JSON.stringify(item) ?? "null");
		lists.set(name, { bodies, digests: bodies.map(digestOf) });
	}
	const hollow: Record<string, unknown> = { ...state };
	for (const name of lists.keys()) hollow[name] = null; // keeps its position among the members
	const agentId = agentOfCheckpoint(state);
	if (agentId !== undefined) hollow[savedBy] = agentId;
	return { rest: JSON.parse(JSON.stringify(hollow)) as Record<string, unknown>, lists };
}

function digestOf(body: string): string {
	// Loaded on the first save: loading it takes longer than all other Node modules of this entry point.
	return process.getBuiltinModule("node:crypto").hash("sha256", body, "base64");
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw checkpointCorrupt("the stored data is not JSON", cause);
	}
}

function nameOf(sessionId: unknown): string {
	if (typeof sessionId === "string") return toStored(sessionId);
	throw invalidInput("A session id is a string", sessionId);
}

function readOptions(options: string | SqliteCheckpointOptions): SqliteCheckpointOptions {
	const given = typeof options === "string" ? { path: options } : options;
	checkOptions(given, sqliteCheckpointsNames, { of: "sqliteCheckpoints()" });
	const { path, durability = "process", maxFileSize = 1 } = given;
	if (typeof path !== "string") throw invalidOption("path", "the path of a file");
	if (durability !== "process" && durability !== "power") {
		throw invalidOption("durability", '"process" or "power"');
	}
	if (!(maxFileSize > 0)) throw invalidOption("maxFileSize", "a number of bytes above 0");
	return given;
}

function invalidOption(option: string, expected: string): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		`The option "${option}" of sqliteCheckpoints should be ${expected}.`,
		{
			data: { option },
		},
	);
}

function invalidInput(what: string, given: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_input",
		`${what}, and this is ${given === null ? "null" : typeof given}.`,
	);
}

function closed(): HoldfastError {
	return new HoldfastError(
		"checkpoints_closed",
		"The store of checkpoints was closed. Open the file again and repeat the call.",
	);
}

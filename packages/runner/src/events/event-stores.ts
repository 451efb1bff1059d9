// Event stores: in memory, in a file, in a database. None has a method to change or remove an event.
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseClient } from "@holdfast/memory";
import { checkOptions, HoldfastError, makeFolder, optionNames } from "@holdfast/upp";
import type { EventStore, RecordAnchor, RunnerEvent, StoredEvent } from "../contract/index.ts";
import { type ChainKeys, chained, noHash, verifyChain } from "./hash-chain.ts";

const eventStoreNames = optionNames<EventStoreOptions>({
	key: true,
	previousKeys: true,
	unkeyed: true,
	anchor: "function",
	anchorEvery: true,
});

/** How a store protects its records against anyone who can write to it. */
export interface EventStoreOptions {
	/**
	 * A secret of at least 32 bytes, stored outside the event store. Each event gets an authentication code, so records
	 * cannot be rewritten with new hashes without the key. By default, events only have hashes.
	 */
	readonly key?: string | Uint8Array;
	/** Former keys, which are still valid for verification. */
	readonly previousKeys?: readonly (string | Uint8Array)[];
	/** How `verify` treats events without a code, such as those written before the key was set. Default: `refuse`. */
	readonly unkeyed?: "refuse" | "accept";
	/**
	 * Receives the end of each record, after a fixed number of events and when the run ends. Store anchors where anyone
	 * who can change the store cannot reach them. If it throws, the next event tries again. If it throws at the end, the
	 * run gets a warning and its record is marked as incomplete.
	 */
	readonly anchor?: (anchor: RecordAnchor) => void | Promise<void>;
	/** Default: 100. */
	readonly anchorEvery?: number;
}

const [shortestKey, anchorEveryDefault] = [32, 100];

function readKeys({ key, previousKeys = [], unkeyed = "refuse" }: EventStoreOptions): ChainKeys {
	const keys = key === undefined ? [] : [key, ...previousKeys];
	if (key === undefined && previousKeys.length > 0) throw invalid("`previousKeys` need a `key`");
	if (unkeyed !== "refuse" && unkeyed !== "accept") throw invalid("`unkeyed` must be `refuse` or `accept`");
	for (const one of keys)
		if (Buffer.byteLength(one) < shortestKey) throw invalid(`a key has fewer than ${shortestKey} bytes`);
	return { keys, acceptsUnkeyed: unkeyed === "accept" };
}

function invalid(why: string): HoldfastError {
	return new HoldfastError("CONFIG_INVALID", `The event store cannot be made: ${why}.`);
}

/** The parts of a store of chains. */
interface ChainKeeper {
	write(event: StoredEvent): Promise<void>;
	read(runId: string): Promise<readonly StoredEvent[]>;
	markIncomplete(runId: string): Promise<void>;
	isIncomplete(runId: string): Promise<boolean>;
}

/** Appends of a run are made one after the other, each after the hash of the previous one. */
function chainStore(keeper: ChainKeeper, options: EventStoreOptions): EventStore {
	const keys = readKeys(options);
	const { anchor, anchorEvery = anchorEveryDefault } = options;
	if (!Number.isSafeInteger(anchorEvery) || anchorEvery < 1)
		throw invalid("`anchorEvery` must be a whole number from 1");
	/** The ends of chains with appends in progress. */
	const ends = new Map<string, Promise<string>>();
	/** Runs whose last anchor could not be written yet. */
	const owing = new Set<string>();
	const append = async (event: RunnerEvent, before: Promise<string>): Promise<string> => {
		const stored = chained(event, await before, keys);
		await keeper.write(stored);
		const { runId, seq, hash, time } = stored;
		const isEnd = event.type === "run.end";
		if (anchor !== undefined && (seq % anchorEvery === 0 || isEnd || owing.has(runId))) {
			try {
				await anchor({ runId, seq, hash, time });
				owing.delete(runId);
			} catch (error) {
				// The next event tries again; after the last one there is no next.
				owing.add(runId);
				if (isEnd) throw error;
			}
		}
		return hash;
	};
	return {
		async append(event) {
			const { runId } = event;
			const before = ends.get(runId) ?? keeper.read(runId).then((events) => events.at(-1)?.hash ?? noHash);
			const appended = append(event, before);
			ends.set(runId, appended);
			appended.catch(() => ends.delete(runId));
			await appended;
			if (event.type === "run.end") ends.delete(runId);
		},
		read: (runId) => keeper.read(runId),
		verify: async (runId, anchors) => verifyChain(runId, await keeper.read(runId), keys, anchors),
		markIncomplete: (runId) => keeper.markIncomplete(runId),
		isIncomplete: (runId) => keeper.isIncomplete(runId),
	};
}

/** Keeps events for the lifetime of the process. */
export function memoryEventStore(options: EventStoreOptions = {}): EventStore {
	checkOptions(options, eventStoreNames, { of: "memoryEventStore()" });
	const runs = new Map<string, string[]>();
	const incomplete = new Set<string>();
	return chainStore(
		{
			async write(event) {
				const events = runs.get(event.runId) ?? [];
				events.push(JSON.stringify(event));
				runs.set(event.runId, events);
			},
			read: async (runId) => (runs.get(runId) ?? []).map((text) => JSON.parse(text)),
			markIncomplete: async (runId) => void incomplete.add(runId),
			isIncomplete: async (runId) => incomplete.has(runId),
		},
		options,
	);
}

/** Keeps the events of each run in a file of a folder, one JSON object per line. */
export function fileEventStore(folder: string, options: EventStoreOptions = {}): EventStore {
	checkOptions(options, eventStoreNames, { of: "fileEventStore()" });
	const file = (runId: string, ending: string): string =>
		join(folder, `${encodeURIComponent(runId)}.${ending}`);
	return chainStore(
		{
			async write(event) {
				makeFolder(folder);
				await appendFile(file(event.runId, "jsonl"), `${JSON.stringify(event)}\n`, { mode: 0o600 });
			},
			async read(runId) {
				const text = await readOr(file(runId, "jsonl"), "");
				return text.split("\n").filter(Boolean).map(parsed);
			},
			async markIncomplete(runId) {
				makeFolder(folder);
				await appendFile(file(runId, "incomplete"), "", { mode: 0o600 });
			},
			isIncomplete: async (runId) => (await readOr(file(runId, "incomplete"), undefined)) !== undefined,
		},
		options,
	);
}

async function readOr<Missing>(path: string, missing: Missing): Promise<string | Missing> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if ((error as { code?: unknown }).code === "ENOENT") return missing;
		throw error;
	}
}

/**
 * A line that cannot be read is an event that was altered. So is a line in a form that this store does not write: a
 * duplicate member has a value that other readers may see and the hash does not cover.
 */
function parsed(line: string): StoredEvent {
	try {
		const event: StoredEvent = JSON.parse(line);
		if (JSON.stringify(event) === line) return event;
	} catch {}
	return { seq: 0 } as StoredEvent;
}

/** Stores events in a collection of a database. */
export function databaseEventStore(
	database: DatabaseClient,
	collection: string = "runner-events",
	options: EventStoreOptions = {},
): EventStore {
	checkOptions(options, eventStoreNames, { of: "databaseEventStore()" });
	const marks = `${collection}-incomplete`;
	return chainStore(
		{
			write: (event) =>
				database.write(collection, `${event.runId}:${String(event.seq).padStart(9, "0")}`, event),
			read: async (runId) => {
				const events: StoredEvent[] = await database.query(collection, { runId }, { sort: { seq: "asc" } });
				return events.toSorted((a, b) => a.seq - b.seq);
			},
			markIncomplete: (runId) => database.write(marks, runId, { runId }),
			isIncomplete: async (runId) => (await database.read(marks, runId)) !== null,
		},
		options,
	);
}

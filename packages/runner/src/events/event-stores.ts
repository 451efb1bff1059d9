// Stores of events: in memory, in a file, in a database. None has a way to change or remove an event.
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseClient } from "@holdfast/memory";
import type { EventStore, RunnerEvent, StoredEvent } from "../contract/index.ts";
import { chained, noHash, verifyChain } from "./hash-chain.ts";

/** What a store of chains is made of. */
interface ChainKeeper {
	write(event: StoredEvent): Promise<void>;
	read(runId: string): Promise<readonly StoredEvent[]>;
	markIncomplete(runId: string): Promise<void>;
	isIncomplete(runId: string): Promise<boolean>;
}

/** Appends of a run are made one after the other, each after the hash of the last. */
function chainStore(keeper: ChainKeeper): EventStore {
	/** Ends of the chains that are being appended to. */
	const ends = new Map<string, Promise<string>>();
	const append = async (event: RunnerEvent, before: Promise<string>): Promise<string> => {
		const stored = chained(event, await before);
		await keeper.write(stored);
		return stored.hash;
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
		verify: async (runId) => verifyChain(await keeper.read(runId)),
		markIncomplete: (runId) => keeper.markIncomplete(runId),
		isIncomplete: (runId) => keeper.isIncomplete(runId),
	};
}

/** Keeps events as long as the process lives. */
export function memoryEventStore(): EventStore {
	const runs = new Map<string, string[]>();
	const incomplete = new Set<string>();
	return chainStore({
		async write(event) {
			const events = runs.get(event.runId) ?? [];
			events.push(JSON.stringify(event));
			runs.set(event.runId, events);
		},
		read: async (runId) => (runs.get(runId) ?? []).map((text) => JSON.parse(text)),
		markIncomplete: async (runId) => void incomplete.add(runId),
		isIncomplete: async (runId) => incomplete.has(runId),
	});
}

/** Keeps the events of each run in a file of a folder, one JSON object a line. */
export function fileEventStore(folder: string): EventStore {
	const file = (runId: string, ending: string): string =>
		join(folder, `${encodeURIComponent(runId)}.${ending}`);
	return chainStore({
		async write(event) {
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await appendFile(file(event.runId, "jsonl"), `${JSON.stringify(event)}\n`, { mode: 0o600 });
		},
		async read(runId) {
			const text = await readOr(file(runId, "jsonl"), "");
			return text.split("\n").filter(Boolean).map(parsed);
		},
		async markIncomplete(runId) {
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await appendFile(file(runId, "incomplete"), "", { mode: 0o600 });
		},
		isIncomplete: async (runId) => (await readOr(file(runId, "incomplete"), undefined)) !== undefined,
	});
}

async function readOr<Missing>(path: string, missing: Missing): Promise<string | Missing> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if ((error as { code?: unknown }).code === "ENOENT") return missing;
		throw error;
	}
}

/** A line that cannot be read is an event that was altered. */
function parsed(line: string): StoredEvent {
	try {
		return JSON.parse(line);
	} catch {
		return { seq: 0 } as StoredEvent;
	}
}

/** Keeps events in a collection of a database. */
export function databaseEventStore(
	database: DatabaseClient,
	collection: string = "runner-events",
): EventStore {
	const marks = `${collection}-incomplete`;
	return chainStore({
		write: (event) =>
			database.write(collection, `${event.runId}:${String(event.seq).padStart(9, "0")}`, event),
		read: async (runId) => {
			const events: StoredEvent[] = await database.query(collection, { runId }, { sort: { seq: "asc" } });
			return events.toSorted((a, b) => a.seq - b.seq);
		},
		markIncomplete: (runId) => database.write(marks, runId, { runId }),
		isIncomplete: async (runId) => (await database.read(marks, runId)) !== null,
	});
}

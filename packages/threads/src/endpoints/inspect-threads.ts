// Threads for the inspector: each thread is a session, and its sub-agents are separate threads. A caller sees the threads
// that the public routes would return (keeps I9).
import type { InspectedChild, InspectedHead, SessionInspection, SessionOwner } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import { readStoreKey } from "holdfast/execute";
import { type Entry, isUnreadable, readBounded, watchAll } from "holdfast/host";
import {
	dataOf,
	type ListedThread,
	systemOf,
	type ThreadRecord,
	type Threads,
	turnInfo,
} from "../thread/index.ts";
import { isVisibleTo, tenantOf } from "./served-threads.ts";

type Owner = string | SessionOwner;

const mostHeads = 1_000;
const mostEntries = 1_000;
/** Characters of stored entries after which a page ends. */
const pageCharacters = 4_000_000;
const mostChildren = 500;
/** How many changes are combined into one answer. */
const mostChanges = 500;
/** The number of threads whose owner is remembered, so that their removal is reported to that owner only. */
const mostKnown = 20_000;

/**
 * Returns the data source for `inspector` of `@holdfast/inspector` on a server with threads.
 *
 * @example
 * ```ts no-run
 * import { inspector } from "@holdfast/inspector";
 * import { createServer } from "@holdfast/server";
 * import { inspectThreads, loadProject, threadRoutes, threads } from "@holdfast/threads";
 * import { sqliteHost } from "holdfast/sqlite";
 *
 * const running = threads({ project: await loadProject("."), host: sqliteHost("threads.db") });
 * const { routes, publicPaths } = inspector({ inspection: inspectThreads(running) });
 * const server = createServer({ routes: [...threadRoutes({ threads: running }), ...routes], publicPaths });
 * await server.listen();
 * ```
 */
export function inspectThreads(threads: Threads): SessionInspection {
	const system = systemOf(threads);
	const { journal, changes } = threads.host;
	const known = new Map<string, { readonly tenant: string | undefined; readonly userId: string | null }>();

	const remember = ({ id, tenant, userId }: ThreadRecord): void => {
		known.delete(id);
		known.set(id, { tenant, userId });
		for (const oldest of known.keys()) {
			if (known.size <= mostKnown) break;
			known.delete(oldest);
		}
	};
	/** Returns the thread, if this caller may see it. */
	const visible = async (given: Owner, id: string): Promise<ThreadRecord | undefined> => {
		const record = await threads.record(id);
		if (record === undefined || !isVisibleTo(ownerOf(given), record)) return undefined;
		remember(record);
		return record;
	};
	const found = async (given: Owner, id: string): Promise<ThreadRecord> => {
		const record = await visible(given, id);
		if (record === undefined) throw notFound();
		return record;
	};
	const headOf = async ({ id, createdAt, record, code }: ListedThread): Promise<InspectedHead> => {
		const made = Math.floor(createdAt / 1_000);
		const empty = { sessionId: id, incarnation: "", seq: 0, createdAt: made, updatedAt: made, waiting: 0 };
		if (record === undefined) return { ...empty, ...(code === undefined ? {} : { unreadable: code }) };
		const { agentId, userId } = record;
		const user = userId === null ? {} : { user: userId };
		const head = await journal.head(threads.storeKeyOf(id));
		if (head === undefined) return { ...empty, agent: agentId, ...user };
		const { incarnation, seq, updatedAt, openRunId, parked, holder, waiting } = head;
		return {
			sessionId: id,
			agent: agentId,
			...user,
			incarnation,
			seq,
			createdAt: made,
			updatedAt,
			...(openRunId === undefined ? {} : { openRunId }),
			...(parked === undefined ? {} : { parked }),
			...(openRunId === undefined || holder === undefined ? {} : { isHeld: holder.alive }),
			waiting,
		};
	};

	return {
		kind: "threads",
		async skills() {
			const lists = await Promise.all(system.plugins.map((plugin) => plugin.skills?.() ?? []));
			return lists.flat();
		},
		async heads(given, { after, limit = mostHeads } = {}) {
			const { user, ...caller } = ownerOf(given);
			const tenant = tenantOf(caller);
			const most = Math.min(mostHeads, Math.max(1, limit));
			const heads: InspectedHead[] = [];
			const from = {
				...(after === undefined ? {} : { before: after }),
				...(tenant === undefined ? {} : { tenant }),
			};
			for await (const listed of system.records.newest(from)) {
				const { record } = listed;
				if (record !== undefined) remember(record);
				// The user of a damaged record is unknown.
				const isOwn = user === undefined || record?.userId === user;
				// Sub-agents are shown with the thread that they work for.
				if (isOwn && record?.parent === undefined) heads.push(await headOf(listed));
				if (heads.length >= most) break;
			}
			return heads;
		},
		async head(given, id) {
			const record = await visible(given, id);
			return record && headOf({ id, createdAt: record.createdAt, record });
		},
		async entries(given, id, { after = 0, limit = mostEntries, child } = {}) {
			const { id: threadId } = await found(given, child ?? id);
			const key = threads.storeKeyOf(threadId);
			if ((await journal.head(key)) === undefined) return [];
			const most = Math.min(mostEntries, Math.max(1, limit));
			const entries = await readBounded(journal, key, { after, limit: most, characters: pageCharacters });
			return entries.map(asOfThread);
		},
		async children(given, id) {
			await found(given, id);
			const children: InspectedChild[] = [];
			const parents = [id];
			for (const parent of parents) {
				for (const listed of await system.records.listedChildren(parent)) {
					if (children.length >= mostChildren) break;
					const of = parent === id ? {} : { parent };
					const { sessionId, agent = "", user: _, ...head } = await headOf(listed);
					children.push({ ...head, ...of, child: sessionId, sessionId, subagent: agent });
					parents.push(sessionId);
				}
			}
			return children;
		},
		async origin(given, id) {
			await found(given, id);
			return undefined;
		},
		async forks(given, id) {
			await found(given, id);
			return [];
		},
		async maskOf(given, id) {
			const { redactWithin } = await threads.redaction((await found(given, id)).id);
			return redactWithin;
		},
		async agent(given, id) {
			return turnInfo(system, await found(given, id));
		},
		async fork(given, id) {
			await found(given, id);
			throw new HoldfastError("route_not_found", "Threads cannot be forked. Create another thread.");
		},
		async release(given, id) {
			const { id: threadId } = await found(given, id);
			const before = await journal.head(threads.storeKeyOf(threadId));
			const run = await threads.session(threadId).release();
			// A run that was in progress here needed no release.
			return { released: run !== null && before?.holder?.alive !== true };
		},
		async steer(given, id) {
			await found(given, id);
			throw new HoldfastError(
				"route_not_found",
				"A message to a thread is added to its active execution: send it to the thread's own route.",
			);
		},
		...(changes === undefined
			? {}
			: {
					async changes(given, { after, signal }) {
						const owner = ownerOf(given);
						const gathered = { changed: new Set<string>(), deleted: new Set<string>() };
						let position = after ?? (await changes.position());
						for await (const change of watchAll(changes, { after: position, signal })) {
							position = change.position;
							const id = threadOf(change.key);
							const found = id === undefined ? undefined : await readableRoot(id);
							const record = found === "unreadable" ? undefined : found;
							// The record of a deleted thread exists for a moment longer than its session.
							const isDeleted = change.kind === "deleted" && record?.id === id;
							if (record !== undefined && !isDeleted) {
								remember(record);
								if (isVisibleTo(owner, record)) gathered.changed.add(record.id);
							} else if (id !== undefined) {
								const was = record ?? known.get(id);
								const how = found === "unreadable" ? "changed" : "deleted";
								if (was !== undefined && isVisibleTo(owner, was)) gathered[how].add(id);
							}
							const count = gathered.changed.size + gathered.deleted.size;
							if (count >= mostChanges) break;
							// This page contains everything committed so far.
							if (count > 0 && position >= (await changes.position())) break;
						}
						return { position, changed: [...gathered.changed], deleted: [...gathered.deleted] };
					},
				}),
	};

	/** Returns the thread of a session; undefined for sessions of others. */
	function threadOf(storeKey: string): string | undefined {
		const { key } = readStoreKey(storeKey);
		return threads.storeKeyOf(key) === storeKey ? key : undefined;
	}

	/** A damaged thread must not end the changes of the others. */
	async function readableRoot(id: string): Promise<ThreadRecord | "unreadable" | undefined> {
		try {
			return await rootOf(id);
		} catch (error) {
			if (isUnreadable(error)) return "unreadable";
			throw error;
		}
	}

	/** Returns the root thread that it works for. */
	async function rootOf(id: string): Promise<ThreadRecord | undefined> {
		let record = await threads.record(id);
		while (record?.parent !== undefined) {
			const above = await threads.record(record.parent.threadId);
			if (above === undefined) break;
			record = above;
		}
		return record;
	}
}

/** The message holds the project's model and its cost: for the engine, all threads have one model. */
function asOfThread(entry: Entry): Entry {
	const { fact } = entry;
	if (fact.kind !== "assistant") return entry;
	const { model, cost } = dataOf(fact.message);
	return {
		...entry,
		fact: {
			...fact,
			...(model === undefined ? {} : { modelId: model }),
			...(cost === undefined ? {} : { cost }),
		},
	};
}

function ownerOf(given: Owner): SessionOwner {
	return typeof given === "string" ? { tenant: given } : given;
}

function notFound(): HoldfastError {
	return new HoldfastError("session_not_found", "There is no such thread.");
}

// A journal over a bare session store: facts as segments that are written once, and a head replaced by compare-and-swap
// (keeps I2). A bare store cannot provide leases (a new holder does not wait for a live one, whose next commit
// conflicts), notifications from other processes, or lists of sessions that this process has not used.
import { checkOptions, optionNames, uuid } from "@holdfast/upp";
import {
	type Entry,
	forkUnsettled,
	type Input,
	isSettledAt,
	isUnreadable,
	type Journal,
	journalClosed,
	type ListOptions,
	leaseLost,
	never,
	type SessionHead,
	type SessionStore,
	type StoredInput,
	sessionExists,
} from "holdfast/host";
import { orderOf } from "./claims.ts";
import { claimKey, headKey, segmentKey } from "./derived-keys.ts";
import { atOnce, commitDocument, deleteDocuments, loadDocument, sessionConflict } from "./documents.ts";
import { type Head, newHead, readHead } from "./head.ts";
import { copySegments, listSegments, readEntries } from "./segments.ts";
import { type JournalParts, type Seen, StoreLease } from "./store-lease.ts";
import { fence, inCallOrder, processOf, remember, type StoreProcess } from "./store-process.ts";

const storeJournalNames = optionNames<StoreJournalOptions>({
	clock: "object",
	workerId: "text",
	ids: "object",
});

/** Options of `storeJournal`. */
export interface StoreJournalOptions {
	/** Clock for sessions and inputs, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Name of this worker. Default: a new UUID. */
	readonly workerId?: string;
	/** Creates ids of sessions and leases. Default: UUIDs. */
	readonly ids?: { uuid(): string };
}

/**
 * Creates a journal over `load`, `commit` and `delete` of a session store. Appends reject with `session_conflict` if
 * another writer changed the session; calls reject with `journal_newer` or `journal_corrupt` for unreadable documents,
 * and leave them unchanged.
 */
export function storeJournal(store: SessionStore, options: StoreJournalOptions = {}): Journal {
	checkOptions(options, storeJournalNames, { of: "storeJournal()" });
	const { clock = { now: () => Date.now() }, ids = { uuid } } = options;
	const workerId = options.workerId ?? ids.uuid();
	const process = processOf(store);
	const underWay = new Set<Promise<unknown>>();
	let closed = false;
	process.workers.add(workerId);

	const ensureOpen = (): void => {
		if (closed) throw journalClosed();
	};
	const begun = (): Head => {
		const at = clock.now();
		// Epochs of a recreated session stay above earlier ones: they start at the current time, which rises faster than
		// leases do.
		return newHead(ids.uuid(), Math.max(Math.ceil(at), process.highestDeletedEpoch), at);
	};
	const parts: JournalParts = {
		store,
		process,
		workerId,
		newId: () => ids.uuid(),
		isClosed: () => closed,
		async look(key) {
			remember(process, key);
			const loaded = await loadDocument(store, headKey(key));
			if (loaded === undefined) return { head: undefined, version: null };
			return { head: readHead(key, loaded.state), version: loaded.version };
		},
		pending(work) {
			underWay.add(work);
			void work.finally(() => underWay.delete(work));
		},
	};

	async function submit(
		key: string,
		{ askedBy, ...input }: Input,
	): Promise<{ duplicate: boolean; order: number }> {
		for (;;) {
			const seen = await parts.look(key);
			const { head = begun(), version } = seen;
			// A bare store has no transaction over two documents: the run may end between this check and the commit.
			const asking = askedBy && (askedBy.key === key ? seen : await parts.look(askedBy.key)).head;
			if (askedBy !== undefined && !isAsking(asking, askedBy)) throw leaseLost(askedBy.key);
			const { dedupeKey } = input;
			const known = dedupeKey === undefined ? undefined : await orderOf(store, key, head, dedupeKey);
			if (known !== undefined) return { duplicate: true, order: known };
			const at = clock.now();
			const order = head.inputs + 1;
			const stored: StoredInput = { ...input, order, at };
			const next: Head = { ...head, inputs: order, inbox: [...head.inbox, stored], updatedAt: at };
			if ((await commitDocument(store, headKey(key), next, version)) !== undefined) {
				process.watchers.changed(key);
				return { duplicate: false, order };
			}
			const now = await parts.look(key);
			// The store may have committed it, and then rejected its own retry as outdated.
			const isThere = now.head?.inbox.some((each) => each.id === input.id && each.order === order) === true;
			if (isThere) return { duplicate: false, order };
			// Either another writer replaced the head, or the store refused without reason.
			if (now.version === version) throw sessionConflict(key);
		}
	}

	async function read(key: string, after: number, limit: number): Promise<readonly Entry[]> {
		for (;;) {
			const { head } = await parts.look(key);
			if (head === undefined || after >= head.seq || limit <= 0) return [];
			try {
				return await readEntries(store, key, head.span, { after, limit });
			} catch (error) {
				// A missing segment may have been deleted with its session during the read.
				if ((await parts.look(key)).head?.generation === head.generation) throw error;
			}
		}
	}

	/** An unreadable head is deleted alone: its segments become unreachable. */
	async function headToRemove(key: string): Promise<Head | undefined> {
		try {
			return (await parts.look(key)).head;
		} catch (error) {
			if (!isUnreadable(error)) throw error;
			await deleteDocuments(store, [headKey(key)]);
			process.keys.delete(key);
			process.watchers.changed(key);
			return undefined;
		}
	}

	/** Segments without a readable reference stay, unreachable. */
	async function segmentsToRemove(key: string, head: Head): ReturnType<typeof listSegments> {
		try {
			const what = head.claims === 0 ? "keys" : "keys-and-claims";
			return await listSegments(store, key, head.span, what);
		} catch (error) {
			if (isUnreadable(error)) return { keys: [], claimed: [] };
			throw error;
		}
	}

	/** An unreadable session is not listed: using it reports the error. */
	async function lookIfReadable(key: string): Promise<Pick<Seen, "head">> {
		try {
			return await parts.look(key);
		} catch (error) {
			if (isUnreadable(error)) return { head: undefined };
			throw error;
		}
	}

	async function remove(key: string, seen: Parameters<Journal["delete"]>[1]): Promise<void> {
		const head = await headToRemove(key);
		if (head === undefined) return;
		if (seen !== undefined && (seen.epoch !== head.epoch || seen.seq !== head.seq)) throw leaseLost(key);
		const { keys, claimed } = await segmentsToRemove(key, head);
		// Deletes the head first: with the head the session exists completely, and without it not at all.
		await deleteDocuments(store, [headKey(key)]);
		process.highestDeletedEpoch = Math.max(process.highestDeletedEpoch, head.epoch);
		process.keys.delete(key);
		fence(process, key, head.epoch);
		process.watchers.changed(key);
		await deleteDocuments(store, [
			...keys,
			...claimed.map((dedupeKey) => claimKey(key, head.generation, dedupeKey)),
		]);
	}

	/** Writes everything before the head: the fork exists as soon as its head does. */
	async function fork(from: string, to: string, until: number): Promise<void> {
		const { head: source } = await parts.look(from);
		const around = await read(from, until - 1, 2);
		const kind = around[0]?.seq === until ? around[0].fact.kind : undefined;
		const next = around[1]?.fact.kind;
		const isSettled = isSettledAt({ kind, next, isOpen: source?.openRunId !== null });
		if (source === undefined || until < 1 || !isSettled) throw forkUnsettled(from, until);
		if ((await parts.look(to)).head !== undefined) throw sessionExists(to);
		const leaseId = parts.newId();
		const span = await copySegments(store, { key: from, span: source.span }, { key: to, leaseId }, until);
		const head: Head = { ...begun(), seq: until, leaseId, workerId, appends: 1, span };
		if ((await commitDocument(store, headKey(to), head, null)) === undefined) {
			const copied = Array.from({ length: span.to }, (_, index) => segmentKey(to, leaseId, index + 1));
			await deleteDocuments(store, copied);
			throw sessionExists(to);
		}
		process.watchers.changed(to);
	}

	async function list({
		after,
		prefix = "",
		limit,
		state = "any",
		changedSince = 0,
		dueBy = never,
	}: ListOptions): Promise<readonly SessionHead[]> {
		const most = limit ?? Number.POSITIVE_INFINITY;
		const known = [...process.keys].filter((key) => key.startsWith(prefix));
		const keys = known.sort().filter((key) => after === undefined || key > after);
		const heads: SessionHead[] = [];
		for (let at = 0; at < keys.length && heads.length < most; at += atOnce) {
			const some = keys.slice(at, at + atOnce);
			const seen = await Promise.all(some.map(lookIfReadable));
			for (const [index, { head }] of seen.entries()) {
				const isNew = head !== undefined && head.updatedAt >= changedSince;
				const isListed = isNew && isIn(process, head, state) && (head.lookAt ?? 0) <= dueBy;
				if (isListed && heads.length < most) heads.push(headOf(process, some[index] as string, head));
			}
		}
		return heads;
	}

	return {
		name: "store",
		workerId,
		async acquire(key, { mode = "polite" } = {}) {
			ensureOpen();
			const seen = await parts.look(key);
			return { ok: true, lease: new StoreLease(parts, key, mode, seen, seen.head ?? begun()) };
		},
		async submit(key, input) {
			ensureOpen();
			const submitted = inCallOrder(process, key, () => submit(key, input));
			parts.pending(submitted.catch(() => {}));
			return submitted;
		},
		async inbox(key) {
			ensureOpen();
			return (await parts.look(key)).head?.inbox ?? [];
		},
		async read(key, { after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
			ensureOpen();
			return read(key, after, limit);
		},
		async head(key) {
			ensureOpen();
			const { head } = await parts.look(key);
			return head === undefined ? undefined : headOf(process, key, head);
		},
		async list(options = {}) {
			ensureOpen();
			return list(options);
		},
		isAlive(other) {
			ensureOpen();
			return process.workers.has(other);
		},
		watch(key, changed) {
			ensureOpen();
			return process.watchers.add(key, changed);
		},
		async fork(from, to, until) {
			ensureOpen();
			const forked = fork(from, to, until);
			parts.pending(forked.catch(() => {}));
			await forked;
		},
		async delete(key, seen) {
			ensureOpen();
			await remove(key, seen);
		},
		async close() {
			closed = true;
			process.workers.delete(workerId);
			while (underWay.size > 0) await Promise.all(underWay);
		},
	};
}

function isAsking(head: Head | undefined, { runId, incarnation }: NonNullable<Input["askedBy"]>): boolean {
	if (head === undefined || (incarnation ?? head.generation) !== head.generation) return false;
	return runId === undefined || head.openRunId === runId;
}

function headOf(process: StoreProcess, key: string, head: Head): SessionHead {
	const {
		generation: incarnation,
		epoch,
		seq,
		openRunId,
		workerId,
		held,
		createdAt,
		updatedAt,
		inbox,
	} = head;
	const plain = { key, incarnation, epoch, seq, createdAt, updatedAt, waiting: inbox.length };
	if (openRunId === null) return plain;
	if (head.parked === true) return { ...plain, openRunId, parked: true };
	if (!held) return { ...plain, openRunId };
	return { ...plain, openRunId, holder: { workerId, alive: process.workers.has(workerId) } };
}

function isIn({ workers }: StoreProcess, head: Head, state: NonNullable<ListOptions["state"]>): boolean {
	const { openRunId, held, workerId, inbox } = head;
	switch (state) {
		case "any":
			return true;
		case "open":
			return openRunId !== null;
		case "waiting":
			return openRunId !== null && head.parked !== true && (head.lookAt ?? null) !== null;
		case "orphaned":
			if (openRunId !== null) return (head.lookAt ?? null) === null && (!held || !workers.has(workerId));
			return inbox.some(({ kind, workerId = "" }) => {
				if (kind === "steer") return workerId !== "";
				return kind === "message" && !workers.has(workerId);
			});
	}
}

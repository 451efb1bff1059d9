// The journal in a Postgres database (keeps I2, I3, I4): any number of processes share it, each with its own worker.
import {
	type AcquireResult,
	eventsExpired,
	forkUnsettled,
	fromStored,
	type Input,
	type Journal,
	journalClosed,
	type Lease,
	type ListOptions,
	leaseLost,
	type ReadOptions,
	rememberedDeletions,
	type SessionHead,
	sessionExists,
	toStored,
} from "holdfast/host";
import { digest } from "./digest.ts";
import { PostgresLease, type SeenSession } from "./postgres-lease.ts";
import {
	type EntryRow,
	type InputRow,
	parsed,
	type SessionView,
	toEntry,
	toHead,
	toInput,
} from "./read-rows.ts";
import type { Store } from "./store.ts";
import { together } from "./together.ts";

/** A journal in Postgres. */
export interface PostgresJournal extends Journal {
	readonly name: "postgres";
	/** Number of transactions committed by this journal; concurrent writes share one. */
	readonly transactions: number;
	/** Number of open runs it took over from dead workers. */
	readonly takeovers: number;
	/** Removes unreachable rows of removed or folded sessions, and of files. Journals do this automatically. */
	sweep(): Promise<void>;
}

interface LookRow extends SeenSession, Pick<SessionView, "owner_name" | "owner_alive"> {
	readonly highest: number;
	/** Null if it has more inputs than are read. */
	readonly inbox: readonly InputRow[] | null;
}

/** The journal of a store. */
export function postgresJournal(store: Store): PostgresJournal {
	const { database, statements, commits, feed, schema, workerId } = store;
	const digestOf = (key: string): string => digest(toStored(key));
	const ownName = toStored(workerId);
	const usable = (): void => {
		if (store.closed) throw journalClosed();
	};

	async function inbox(digested: string): Promise<ReturnType<typeof toInput>[]> {
		await store.ready();
		const rows = await database.often<InputRow>(statements.inbox, [digested]);
		return rows.map(toInput);
	}

	const look = together<string, LookRow>((digests) => database.often(statements.look, [digests]));
	let takeovers = 0;
	const leaseStore = {
		commits,
		feed,
		held: store.held,
		tookOver: () => void takeovers++,
		worker: () => store.worker.id,
		inbox,
		sweep: () => store.sweep(),
		get closed() {
			return store.closed;
		},
	};

	async function acquire(key: string, mode: "polite" | "seize"): Promise<AcquireResult> {
		await store.ready();
		const storedKey = toStored(key);
		const digested = digest(storedKey);
		const row = await look(digested);
		const seen = row.id === null ? undefined : row;
		if (mode === "polite" && seen?.owner_alive === true && seen.owner_name !== ownName)
			return { ok: false, heldBy: fromStored(seen.owner_name ?? "") };
		const openRunId = seen === undefined || seen.open_run === null ? undefined : fromStored(seen.open_run);
		const isLeft = openRunId !== undefined && seen?.owner_name !== null && seen?.owner_alive !== true;
		const about = { key, storedKey, digest: digested, mode, isLeft };
		const epoch = seen?.epoch ?? row.highest;
		const lease = new PostgresLease(leaseStore, about, seen, { epoch, openRunId }) as Lease;
		return row.inbox === null ? { ok: true, lease } : { ok: true, lease, inbox: row.inbox.map(toInput) };
	}

	async function submit(key: string, input: Input): Promise<{ duplicate: boolean; order: number }> {
		const { askedBy, dedupeKey } = input;
		const storedKey = toStored(key);
		const digested = digest(storedKey);
		const asking = askedBy === undefined ? undefined : digestOf(askedBy.key);
		const stored = (text: string | undefined): string | undefined =>
			text === undefined ? undefined : toStored(text);
		const write = {
			o: "submit",
			h: digested,
			k: storedKey,
			i: toStored(input.id),
			kind: input.kind,
			run: stored(input.runId),
			...(dedupeKey === undefined ? {} : { dk: toStored(dedupeKey), dh: digest(toStored(dedupeKey)) }),
			w: stored(input.workerId),
			...(asking === undefined ? {} : { ah: asking, ar: stored(askedBy?.runId), ai: askedBy?.incarnation }),
			at: store.now(),
			b: JSON.stringify(input.body) ?? "null",
		};
		const sessions = asking === undefined ? [digested] : [digested, asking];
		const [outcome, order] = await commits.commit({ sessions, encode: () => write });
		if (outcome === "lost") throw leaseLost(askedBy?.key ?? key);
		feed.committed(key);
		return { duplicate: outcome === "known", order: order as number };
	}

	async function list(options: ListOptions): Promise<SessionHead[]> {
		await store.ready();
		const { text, values } = statements.list(options);
		const rows = await database.query<SessionView>(text, values);
		return rows.map(toHead);
	}

	return {
		name: "postgres",
		folds: true,
		workerId,
		get transactions() {
			return commits.transactions;
		},
		get takeovers() {
			return takeovers;
		},
		async acquire(key, { mode = "polite" } = {}) {
			usable();
			return acquire(key, mode);
		},
		async submit(key, input) {
			usable();
			return submit(key, input);
		},
		async inbox(key) {
			usable();
			return inbox(digestOf(key));
		},
		async read(key, { after = 0, limit }: ReadOptions = {}) {
			usable();
			await store.ready();
			const rows = await database.lists<EntryRow>(statements.entries, [digestOf(key), after, limit ?? null]);
			const [first] = rows;
			if (after > 0 && first?.[3] === "folded" && first[0] > after + 1)
				throw eventsExpired(key, after, first[0]);
			return rows.map(toEntry);
		},
		async readChunks(key, { after, through, limit }) {
			usable();
			await store.ready();
			const values = [digestOf(key), after.seq, after.sub, through, limit];
			const rows = await database.lists<[number, number, string]>(statements.chunks, values);
			return rows.map(([seq, sub, body]) => ({
				seq,
				sub,
				event: parsed(body, `a chunk after entry ${seq}`) as never,
			}));
		},
		async head(key) {
			usable();
			await store.ready();
			const [view] = await database.often<SessionView>(statements.head, [digestOf(key)]);
			return view && toHead(view);
		},
		async list(options = {}) {
			usable();
			return list(options);
		},
		async isAlive(other) {
			usable();
			if (other === workerId) return true;
			return store.isAlive(toStored(other));
		},
		async deaths() {
			usable();
			await store.ready();
			const rows = await database.query<{ id: number }>(
				`SELECT w.id FROM ${schema}.workers w WHERE w.id <> $1 AND NOT ${store.worker.lives("w")}`,
				[store.worker.id],
			);
			return rows.map(({ id }) => String(id));
		},
		watch(key, changed) {
			usable();
			return feed.watch(key, toStored(key), changed);
		},
		async fork(from, to, until) {
			usable();
			if (!Number.isInteger(until)) throw forkUnsettled(from, until);
			const [source, target] = [digestOf(from), digestOf(to)];
			const [outcome] = await commits.commit({
				sessions: [source, target],
				encode: () => ({ o: "fork", fh: source, h: target, k: toStored(to), until, at: store.now() }),
			});
			if (outcome === "unsettled") throw forkUnsettled(from, until);
			if (outcome === "exists") throw sessionExists(to);
			feed.committed(to);
		},
		async delete(key, seen) {
			usable();
			const digested = digestOf(key);
			const seenAs = seen === undefined ? {} : { e: seen.epoch, q: seen.seq };
			const [outcome, session] = await commits.commit({
				sessions: [digested],
				takes: true,
				encode: () => ({ o: "remove", h: digested, ...seenAs, remember: 2 * rememberedDeletions }),
			});
			if (outcome === "lost") throw leaseLost(key);
			if (outcome === "none") return;
			store.held.get(session as number)?.lose();
			feed.committed(key);
			await store.sweep().catch(() => {}); // Rows that cannot be swept now are left to the next sweep.
		},
		async sweep() {
			usable();
			await store.sweep();
		},
		close: () => store.close(),
	};
}

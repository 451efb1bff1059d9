// Notices commits: by this host at once, by others through notifications on the one lasting connection, regardless of the
// number of watched sessions. A notification names the sessions to read and carries nothing else. Correctness does not
// depend on notifications: the state of watched sessions is compared after a reconnect, and periodically.
import { makeWatchers } from "holdfast/host";
import { type Database, pause } from "./database.ts";
import { digest } from "./digest.ts";
import { isUnavailable } from "./postgres-errors.ts";
import type { PostgresLease } from "./postgres-lease.ts";
import type { SessionConnection } from "./session-connection.ts";

/** Change notifications of one host. */
export interface ChangeFeed {
	watch(key: string, storedKey: string, changed: () => void): () => void;
	/** Calls `changed` after any commit, by any host. */
	watchAll(changed: () => void): () => void;
	/** Reports a commit of this host to the session. */
	committed(key: string): void;
	/** Notifies other hosts that these sessions were written to, and that leases on those of `taken` have ended. */
	publish(digests: readonly string[], taken: ReadonlySet<string>): void;
	/** Subscribes to the loss of this lease. */
	listen(lease: PostgresLease): void;
	ignore(lease: PostgresLease): void;
	stop(): Promise<void>;
}

/** The parts of a feed. */
export interface FeedParts {
	readonly database: Database;
	readonly session: SessionConnection;
	readonly schema: string;
	readonly channel: string;
	/** Milliseconds between two polls if notifications are unavailable. */
	readonly pollMs: number;
	/** The identity of this host in notifications. */
	readonly sender: string;
	/** Resolves when other hosts know this one and therefore notify it. */
	register(): Promise<unknown>;
}

/** Milliseconds between two polls if notifications are available: one may be lost with the process that committed. */
const seldom = 1_000;
/** Milliseconds between two notifications of a host: each wakes a server process for every listening connection. */
const gatherMs = 5;
/** Slow polls, of many watched sessions, are spaced so that they take at most this fraction (1/n) of the time. */
const looksTakeOneIn = 5;
/** Characters of each digest in a notification. */
const hintLength = 8;
/** Maximum number of sessions that a notification names; its limit is 8,000 bytes. */
const hintsAtMost = 900;

/** Creates the feed of a host; it connects with the first watcher. */
export function makeChangeFeed(parts: FeedParts): ChangeFeed {
	const { database, session, schema, channel, sender } = parts;
	const watchers = makeWatchers();
	/** The watched sessions: their digests, and their last versions; undefined before the first poll. */
	const watched = new Map<string, { readonly digest: string; version: string | undefined }>();
	const byHint = new Map<string, Set<string>>();
	const leases = new Set<PostgresLease>();
	let timer: ReturnType<typeof setTimeout> | undefined;
	let looking: Promise<void> | undefined;
	let again = false;
	let stopped = false;
	let started = false;
	/** Pending notifications: the digests of sessions, and whether they were taken. */
	let pending = new Map<string, boolean>();
	let publishing: Promise<void> | undefined;

	session.onNotification(hear);

	async function listen(): Promise<void> {
		await session.onConnect(async (client) => {
			await client.query(`LISTEN ${channel}`);
			lookSoon();
		});
		await session.start();
	}

	function start(): void {
		if (stopped) return;
		if (!started) {
			started = true;
			void listen();
		}
		lookSoon();
	}

	function hear(payload: string): void {
		const [from, written = "", over = ""] = payload.split(" ");
		if (from === sender) return;
		watchers.somethingChanged();
		if (written === "*") {
			lookSoon();
			return;
		}
		for (const hint of hintsOf(written + over))
			for (const key of byHint.get(hint) ?? []) watchers.changed(key);
		const isOver = ({ digest }: PostgresLease): boolean => over.includes(digest.slice(0, hintLength));
		if (over !== "" && [...leases].some(isOver)) lookSoon();
	}

	const isNeeded = (): boolean => watchers.size > 0 || leases.size > 0 || watchers.hasAny;

	/** Polls at once, or again after the current poll. */
	function lookSoon(): void {
		again = true;
		looking ??= (async () => {
			// Sessions watched in the same turn are read together.
			await new Promise((resolve) => setImmediate(resolve));
			for (let attempt = 0; again && !stopped; attempt++) {
				again = false;
				await look().catch(async (error: unknown) => {
					again = isUnavailable(error) && !stopped;
					await pause(attempt);
				});
			}
			looking = undefined;
		})();
	}

	function lookLater(wait: number): void {
		clearTimeout(timer);
		timer = setTimeout(() => {
			timer = undefined;
			watchers.somethingChanged();
			lookSoon();
		}, wait).unref();
	}

	async function look(): Promise<void> {
		clearTimeout(timer);
		timer = undefined;
		await parts.register();
		for (const lease of leases) if (lease.isLost) leases.delete(lease);
		const began = performance.now();
		const keys = [...watched.keys()];
		const held = [...leases];
		if (keys.length > 0 || held.length > 0) await compare(keys, held);
		if (stopped || !isNeeded()) return;
		const interval = session.connected ? seldom : parts.pollMs;
		lookLater(Math.max(interval, (performance.now() - began) * looksTakeOneIn));
	}

	async function compare(keys: readonly string[], held: readonly PostgresLease[]): Promise<void> {
		const digests = [...keys.map((key) => watched.get(key)?.digest), ...held.map((lease) => lease.digest)];
		// Passed as a single array: the planner, which does not see its length, keeps one plan.
		const rows = await database.lists<[string, string, number, number]>(
			`SELECT replace(digest::text, '-', ''), id || ' ' || version, id, epoch FROM ${schema}.sessions
				WHERE digest = ANY ((SELECT $1::uuid[])::uuid[])`,
			[[...new Set(digests)]],
		);
		const found = new Map(rows.map((row) => [row[0], row]));
		for (const key of keys) {
			const entry = watched.get(key);
			if (entry === undefined) continue;
			const version = found.get(entry.digest)?.[1] ?? "";
			// If the session exists, its state at the start of the watch is unknown.
			if (version === entry.version || (entry.version === undefined && version === "")) {
				entry.version = version;
				continue;
			}
			entry.version = version;
			watchers.changed(key);
		}
		for (const lease of held) {
			const row = found.get(lease.digest);
			lease.see(row?.[2], row?.[3]);
		}
	}

	async function send(): Promise<void> {
		while (pending.size > 0) {
			const digests = pending;
			pending = new Map();
			const hints = (wanted: boolean): string =>
				[...digests].map(([each, isTaken]) => (isTaken === wanted ? each.slice(0, hintLength) : "")).join("");
			const named = digests.size > hintsAtMost ? "*" : `${hints(false)} ${hints(true)}`;
			await database.once("SELECT pg_notify($1, $2)", [channel, `${sender} ${named}`]).catch(() => {});
			await new Promise((resolve) => setTimeout(resolve, gatherMs));
		}
		publishing = undefined;
	}

	return {
		watch(key, storedKey, changed) {
			const remove = watchers.add(key, changed);
			const known = digest(storedKey);
			if (!watched.has(key)) {
				watched.set(key, { digest: known, version: undefined });
				const hint = known.slice(0, hintLength);
				byHint.set(hint, (byHint.get(hint) ?? new Set()).add(key));
			}
			start();
			return () => {
				remove();
				if (watchers.has(key)) return;
				watched.delete(key);
				const hint = known.slice(0, hintLength);
				const keys = byHint.get(hint);
				keys?.delete(key);
				if (keys?.size === 0) byHint.delete(hint);
			};
		},
		watchAll(changed) {
			const remove = watchers.addToAll(changed);
			start();
			return remove;
		},
		committed: (key) => watchers.changed(key),
		publish(digests, over) {
			for (const each of digests) pending.set(each, over.has(each) || pending.get(each) === true);
			publishing ??= send();
		},
		listen(lease) {
			leases.add(lease);
			if (!started || !session.connected) start();
			// Notifications from before the listener connected are covered by the periodic read.
			else if (timer === undefined) lookLater(seldom);
		},
		ignore: (lease) => void leases.delete(lease),
		async stop() {
			stopped = true;
			clearTimeout(timer);
			await publishing;
			await looking;
		},
	};
}

function hintsOf(hints: string): readonly string[] {
	return Array.from({ length: hints.length / hintLength }, (_, at) =>
		hints.slice(at * hintLength, (at + 1) * hintLength),
	);
}

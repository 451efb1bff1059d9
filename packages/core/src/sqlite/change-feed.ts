// Detects commits: this journal's own immediately, those of others through `PRAGMA data_version`, which is polled every
// few milliseconds, and only while a session is watched or a lease listens for its loss. If the connection's provider
// reports the commits of others, there is no polling.
import type { Committed } from "../facts/index.ts";
import { makeWatchers } from "../host/index.ts";
import type { SqlConnection } from "./connection.ts";
import type { SqliteLease } from "./sqlite-lease.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";

/** The changes of one journal. */
export interface ChangeFeed {
	watch(key: string, changed: (commits?: readonly Committed[]) => void): () => void;
	/** Calls `changed` after any commit, by any process. */
	watchAll(changed: () => void): () => void;
	/** Reports this journal's commit to the session. `commits` returns what followers read of it. Default: unknown. */
	committed(key: string, commits?: () => readonly Committed[]): void;
	/** Subscribes to the loss of this lease. */
	listen(lease: SqliteLease): void;
	/** Ends the subscription. */
	ignore(lease: SqliteLease): void;
	/**
	 * Whether no other process committed between two times of this process's clock; also false if there was no polling.
	 */
	wasQuiet(from: number, until: number): boolean;
	stop(): void;
}

/** Milliseconds between two polls. */
const interval = 25;
/** If polling is slow because much is watched, polls are spaced out to use at most this fraction of the time. */
const looksTakeOneIn = 5;
/** How many sessions are compared in one statement. */
const atOnce = 500;

/** Calls `changed` after each commit of others to the same database. Returns a function that stops it. */
export type CommitsOfOthers = (changed: () => void) => () => void;

/** Creates the feed of a connection. `read` runs its reads, which may share a transaction with subsequent ones. */
export function makeChangeFeed(
	statements: Statements,
	others?: CommitsOfOthers,
	read: NonNullable<SqlConnection["read"]> = (work) => work(),
): ChangeFeed {
	const watchers = makeWatchers();
	/** The last known position of each watched session. */
	const positions = new Map<string, string>();
	const leases = new Set<SqliteLease>();
	/**
	 * Leases that subscribed since the last poll and were held before it: commits by others in between would not show as
	 * a change.
	 */
	const fresh = new Set<SqliteLease>();
	/** The time of the last poll, and since when others have committed nothing, by the clock used for `seenAt`. */
	let lookedAt = Number.NEGATIVE_INFINITY;
	let quietSince = Number.POSITIVE_INFINITY;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let leave: (() => void) | undefined;
	let version = -1;

	const dataVersion = (): number => (statements.dataVersion.get() as { data_version: number }).data_version;
	/** The positions of sessions, in key order. */
	function* positionsOf(keys: readonly string[]): Generator<readonly [key: string, position: string]> {
		for (let from = 0; from < keys.length; from += atOnce) {
			const some = keys.slice(from, from + atOnce);
			const rows = statements.positionsOf.all(JSON.stringify(some.map(toStored)));
			for (const { at, position } of rows as { at: number; position: string | null }[])
				yield [some[at] as string, position ?? ""];
		}
	}

	function see(key: string): void {
		for (const [, position] of positionsOf([key])) positions.set(key, position);
	}

	function look(): void {
		if (watchers.size === 0 && leases.size === 0 && !watchers.hasAny) {
			stop();
			return;
		}
		const began = performance.now();
		try {
			const latest = dataVersion();
			if (latest === version) checkAll(fresh);
			else compare();
			if (latest !== version) quietSince = began;
			version = latest;
			lookedAt = began;
			fresh.clear();
		} catch {
			// Locked at the moment: the version stays unseen, so the next poll compares again.
		}
		lookIn(Math.max(interval, (performance.now() - began) * looksTakeOneIn));
	}

	function lookIn(milliseconds: number): void {
		timer = setTimeout(look, milliseconds);
		timer.unref();
	}

	function compare(): void {
		for (const [key, latest] of positionsOf([...watchers.keys()])) {
			if (latest === positions.get(key)) continue;
			positions.set(key, latest);
			watchers.changed(key);
		}
		watchers.somethingChanged();
		checkAll(leases);
	}

	function checkAll(some: ReadonlySet<SqliteLease>): void {
		for (const lease of some) lease.look();
	}

	/** The provider reported commits of others. */
	function committedByOthers(): void {
		if (watchers.size === 0 && leases.size === 0 && !watchers.hasAny) stop();
		else unheard(compare);
	}

	/** Ignores errors of the store in background work: the next request will report them. */
	function unheard(look: () => void): void {
		try {
			look();
		} catch {}
	}

	function start(): void {
		if (others !== undefined) {
			leave ??= others(committedByOthers);
			return;
		}
		if (timer !== undefined) return;
		version = -1;
		lookIn(interval);
	}

	function stop(): void {
		clearTimeout(timer);
		timer = undefined;
		leave?.();
		leave = undefined;
		positions.clear();
	}

	return {
		watch(key, changed) {
			start();
			try {
				// The watcher is about to read.
				if (!positions.has(key)) read(() => see(key), "several");
			} catch {
				// Locked at the moment: the first poll finds the session changed, and calls once too often.
			}
			const remove = watchers.add(key, changed);
			return () => {
				remove();
				if (!watchers.has(key)) positions.delete(key);
			};
		},
		watchAll(changed) {
			start();
			return watchers.addToAll(changed);
		},
		committed: (key, commits) => watchers.changed(key, commits),
		listen(lease) {
			start();
			leases.add(lease);
			if (others !== undefined) queueMicrotask(() => unheard(() => lease.look()));
			else if (lease.seenAt <= lookedAt) fresh.add(lease);
		},
		ignore(lease) {
			leases.delete(lease);
			fresh.delete(lease);
		},
		wasQuiet: (from, until) => timer !== undefined && quietSince <= from && until <= lookedAt,
		stop,
	};
}

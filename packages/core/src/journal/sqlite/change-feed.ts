// Notices what was committed: by this journal at once, by others through `PRAGMA data_version`, which is asked every
// few milliseconds while somebody watches a session or listens for the loss of a lease, and never otherwise.
import { makeWatchers } from "../watchers.ts";
import type { SqliteLease } from "./sqlite-lease.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";

/** The changes of one journal. */
export interface ChangeFeed {
	watch(key: string, changed: () => void): () => void;
	/** This journal committed something of the session. */
	committed(key: string): void;
	/** Somebody listens for the loss of this lease. */
	listen(lease: SqliteLease): void;
	/** Nobody listens for it any more. */
	ignore(lease: SqliteLease): void;
	stop(): void;
}

/** Milliseconds between two looks. */
const interval = 25;

/** Makes the feed of a connection. */
export function makeChangeFeed(statements: Statements): ChangeFeed {
	const watchers = makeWatchers();
	/** What each watched session looked like last. */
	const positions = new Map<string, string>();
	const leases = new Set<SqliteLease>();
	/** Leases listened to since the last look: what others did before would not show as a change. */
	const fresh = new Set<SqliteLease>();
	let timer: ReturnType<typeof setInterval> | undefined;
	let version = -1;

	const dataVersion = (): number => (statements.dataVersion.get() as { data_version: number }).data_version;
	const position = (key: string): string =>
		(statements.positionOf.get(toStored(key)) as { position: string } | undefined)?.position ?? "";

	function look(): void {
		for (const lease of leases) if (lease.isLost) leases.delete(lease);
		if (watchers.size === 0 && leases.size === 0) {
			stop();
			return;
		}
		try {
			const latest = dataVersion();
			if (latest === version) checkAll(fresh);
			else compare();
			version = latest;
			fresh.clear();
		} catch {
			// Locked for this moment: the version stays unseen, and the next look compares again.
		}
	}

	function compare(): void {
		for (const key of watchers.keys()) {
			const latest = position(key);
			if (latest === positions.get(key)) continue;
			positions.set(key, latest);
			watchers.changed(key);
		}
		checkAll(leases);
	}

	function checkAll(some: ReadonlySet<SqliteLease>): void {
		for (const lease of some) lease.look();
	}

	function start(): void {
		if (timer !== undefined) return;
		version = -1;
		timer = setInterval(look, interval);
		timer.unref();
	}

	function stop(): void {
		clearInterval(timer);
		timer = undefined;
		positions.clear();
	}

	return {
		watch(key, changed) {
			start();
			try {
				if (!positions.has(key)) positions.set(key, position(key));
			} catch {
				// Locked for this moment: the first look finds the session changed, and calls once too often.
			}
			const remove = watchers.add(key, changed);
			return () => {
				remove();
				if (!watchers.has(key)) positions.delete(key);
			};
		},
		committed: watchers.changed,
		listen(lease) {
			start();
			leases.add(lease);
			fresh.add(lease);
		},
		ignore(lease) {
			leases.delete(lease);
			fresh.delete(lease);
		},
		stop,
	};
}

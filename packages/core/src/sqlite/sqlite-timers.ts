// Timers in the journal's file, found by an index of their due times. They are deleted with their session.
import { encodeValue } from "@holdfast/upp";
import { never } from "../facts/index.ts";
import {
	type ClaimedTimer,
	type ClaimOptions,
	claimAtOnce,
	claimLease,
	type MaybePromise,
	namespacePrefix,
	type Timer,
	type TimerStore,
} from "../host/index.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { decoded } from "./read-entries.ts";
import { ensureSession } from "./session-writes.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";

/** The journal parts that timers need. */
export interface TimersParts {
	readonly statements: Statements;
	readonly feed: ChangeFeed;
	/** Runs within a transaction and resolves when it is committed. */
	commit<T>(apply: () => T, committed?: () => void): Promise<T>;
	reading<T>(read: () => T): MaybePromise<T>;
	now(): number;
}

interface TimerRow {
	readonly session: number;
	readonly key: string;
	readonly incarnation: string;
	readonly name: string;
	readonly wake_at: number;
	readonly body: string | null;
}

/** Returns the timers of all sessions of a journal. */
export function sqliteTimers({ statements, feed, commit, reading, now }: TimersParts): TimerStore {
	const nextDue = (after?: number): number | undefined => {
		const row = after === undefined ? statements.nextTimer.get() : statements.nextTimerAfter.get(after);
		return (row as { due: number | null }).due ?? undefined;
	};

	function dueTimers({ now: at, limit = claimAtOnce, namespace }: ClaimOptions): TimerRow[] {
		if (namespace === undefined) return statements.dueTimers.all(at, limit) as unknown as TimerRow[];
		const { prefix, begins } = namespacePrefix(namespace);
		const of = { prefix: toStored(prefix), begins: Number(begins) };
		return statements.dueTimersOf.all({ at, limit, ...of }) as unknown as TimerRow[];
	}

	function claimDue(options: ClaimOptions): readonly ClaimedTimer[] {
		const { now: at, leaseMs = claimLease } = options;
		return dueTimers(options).map((row) => {
			const claimed = statements.claimTimer.get(whole(at + leaseMs), row.session, row.name);
			const { claim, attempt } = claimed as { claim: string; attempt: number };
			const { incarnation } = row;
			return Object.assign(timerOf(fromStored(row.key), row), { incarnation, claim, attempt });
		});
	}

	return {
		async set({ key, name, wakeAt, body }) {
			const text = body === undefined ? null : JSON.stringify(encodeValue(body));
			const at = whole(wakeAt);
			await commit(
				() => {
					const session = ensureSession(statements, toStored(key), now());
					const stored = toStored(name);
					statements.setTimer.run({
						session,
						name: stored,
						at,
						body: text,
						sum: statements.sumOf([stored], text),
					});
				},
				() => feed.committed(key),
			);
		},
		cancel: (key, name) =>
			commit(() => {
				const found = statements.sessionId.get(toStored(key)) as { id: number } | undefined;
				return found !== undefined && statements.cancelTimer.run(found.id, toStored(name)).changes > 0;
			}),
		async claim(options) {
			// If no timer is due, nothing is written.
			const next = await reading(() => nextDue());
			if (next === undefined || next > options.now) return [];
			if (
				options.namespace !== undefined &&
				(await reading(() => dueTimers({ ...options, limit: 1 }))).length === 0
			)
				return [];
			return commit(() => claimDue(options));
		},
		settle: ({ key, name, claim }) =>
			commit(() => statements.settleTimer.run(toStored(key), toStored(name), claim).changes > 0),
		nextDue: ({ after } = {}) => reading(() => nextDue(after)),
		list: (key) =>
			reading(() => {
				const rows = statements.listTimers.all(toStored(key)) as unknown as TimerRow[];
				return rows.map((row) => timerOf(key, row)).sort((one, other) => (one.name < other.name ? -1 : 1));
			}),
		watch: (changed) => feed.watchAll(changed),
	};
}

function timerOf(key: string, { name, wake_at: wakeAt, body }: TimerRow): Timer {
	const timer = { key, name: fromStored(name), wakeAt };
	if (body === null) return timer;
	return {
		...timer,
		// Decoded on access, so that a damaged timer does not affect the others.
		get body() {
			return decoded(body, "a timer");
		},
	};
}

/** Rounds a time up to the integer that a column can store. */
function whole(time: number): number {
	return Math.min(Math.ceil(time), never);
}

// The timers of sessions in Postgres. Due timers are claimed in one statement, which skips those that others claim.
import { encodeValue } from "@holdfast/upp";
import {
	claimAtOnce,
	claimLease,
	fromStored,
	namespacePrefix,
	never,
	type Timer,
	type TimerStore,
	toStored,
} from "holdfast/host";
import { digest } from "./digest.ts";
import { decoded } from "./read-rows.ts";
import type { Store } from "./store.ts";

interface TimerRow {
	readonly key: string;
	readonly incarnation: string;
	readonly name: string;
	readonly wake_at: number;
	readonly body: string | null;
	readonly claim: string;
	readonly attempt: number;
}

/** The timers of all sessions of a store. */
export function postgresTimers(store: Store): TimerStore {
	const { database, commits, schema, feed, ready } = store;
	const digestsOf = (key: string, name: string): { h: string; nh: string } => ({
		h: digest(toStored(key)),
		nh: digest(toStored(name)),
	});

	async function end(key: string, name: string, claim?: string): Promise<boolean> {
		const about = { ...digestsOf(key, name), ...(claim === undefined ? {} : { claim }) };
		const [, was] = await commits.commit({
			sessions: [about.h],
			encode: () => ({ o: "end-timer", ...about }),
		});
		return was === true;
	}

	async function nextDue({ after }: { readonly after?: number } = {}): Promise<number | undefined> {
		await ready();
		const [row] = await database.query<{ due: number | null }>(
			`SELECT min(due_at) AS due FROM ${schema}.timers ${after === undefined ? "" : "WHERE due_at > $1"}`,
			after === undefined ? [] : [Math.floor(after)],
		);
		return row?.due ?? undefined;
	}

	return {
		async set({ key, name, wakeAt, body }) {
			const about = { ...digestsOf(key, name), k: toStored(key), name: toStored(name) };
			const b = body === undefined ? {} : { b: JSON.stringify(encodeValue(body)) };
			const wake = whole(wakeAt);
			await commits.commit({
				sessions: [about.h],
				encode: () => ({ o: "set-timer", ...about, ...b, wake, at: store.now() }),
			});
			feed.committed(key);
		},
		cancel: (key, name) => end(key, name),
		async claim({ now, leaseMs = claimLease, limit = claimAtOnce, namespace }) {
			// A poll without results writes nothing.
			const next = await nextDue();
			if (next === undefined || next > now) return [];
			const of = namespace === undefined ? undefined : namespacePrefix(namespace);
			const isOf = `(SELECT starts_with(n.key, $4) FROM ${schema}.sessions n WHERE n.id = t.session) = $5`;
			const rows = await database.query<TimerRow>(
				`WITH due AS (SELECT t.session, t.digest FROM ${schema}.timers t
					WHERE t.due_at <= $1 ${of === undefined ? "" : `AND ${isOf}`} ORDER BY t.due_at LIMIT $2
					FOR NO KEY UPDATE SKIP LOCKED)
				UPDATE ${schema}.timers t SET due_at = $3, attempt = t.attempt + 1, claim = gen_random_uuid()
					FROM due, ${schema}.sessions s
					WHERE t.session = due.session AND t.digest = due.digest AND s.id = t.session
					RETURNING s.key, s.incarnation, t.name, t.wake_at, t.body, t.claim, t.attempt`,
				[
					Math.floor(now),
					limit,
					whole(now + leaseMs),
					...(of === undefined ? [] : [toStored(of.prefix), of.begins]),
				],
			);
			return rows
				.sort((one, other) => one.wake_at - other.wake_at)
				.map((row) => {
					const { incarnation, claim, attempt } = row;
					return Object.assign(timerOf(fromStored(row.key), row), { incarnation, claim, attempt });
				});
		},
		settle: ({ key, name, claim }) => end(key, name, claim),
		nextDue,
		async list(key) {
			await ready();
			const rows = await database.query<TimerRow>(
				`SELECT name, wake_at, body FROM ${schema}.timers
					WHERE session = (SELECT id FROM ${schema}.sessions WHERE digest = $1)`,
				[digest(toStored(key))],
			);
			return rows.map((row) => timerOf(key, row)).sort((one, other) => (one.name < other.name ? -1 : 1));
		},
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

/** Rounds a time up to a whole number for its column, so that it is never earlier. */
function whole(time: number): number {
	return Math.min(Math.ceil(time), never);
}

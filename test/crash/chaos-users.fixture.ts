// The users of the chaos: each asks its session one thing after the other, and watches all that happens there, by a way that
// is cut again and again.
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@holdfast/client";
import { messageToJSON, UserMessage } from "@holdfast/upp";
import { followSession, type Host } from "holdfast";
import { chaosPlan } from "./chaos-agent.fixture.ts";

/** What a user has seen. */
export interface ChaosUser {
	readonly session: string;
	/** Ids of all events, in the order in which they came. */
	readonly seen: readonly string[];
	/** How often it has asked. */
	readonly asked: number;
	/** Runs that it saw end. */
	readonly ended: number;
	/** How often its watching broke, and was begun again after the last event. */
	readonly broken: number;
	/** Resolves when it asks no more, and what it asked for is over. */
	readonly over: Promise<void>;
	leave(): Promise<void>;
}

interface Seen {
	readonly id?: string | undefined;
	readonly event: { readonly type: string };
}

/** How a user asks, and how it watches from an event on. */
interface Access {
	ask(number: number, signal: AbortSignal): Promise<unknown>;
	watch(after: string | undefined, signal: AbortSignal): AsyncIterable<Seen>;
}

/** A user of the journal itself: inputs that workers are to begin, and a follower. */
export function journalUser(
	session: string,
	{ asking, watching }: { readonly asking: Host; readonly watching: Host },
	continues: () => boolean,
): ChaosUser {
	return startUser(session, continues, {
		ask(number) {
			const id = `${session} ${number}`;
			const message = messageToJSON(new UserMessage(JSON.stringify(chaosPlan(session, number)), { id }));
			const body = { shape: "text", message };
			return asking.journal.submit(session, { id, kind: "message", runId: id, dedupeKey: id, body }) as never;
		},
		watch: (after, signal) =>
			followSession(watching, session, { until: "never", signal, ...(after === undefined ? {} : { after }) }),
	});
}

/** A user of the servers. */
export function servedUser(session: string, url: string, continues: () => boolean): ChaosUser {
	const client = createClient({
		url,
		maxReconnects: Number.POSITIVE_INFINITY,
		reconnectDelayMs: 20,
		maxReconnectDelayMs: 300,
		idleTimeoutMs: 5_000,
	});
	return startUser(session, continues, {
		ask: (number, signal) =>
			client
				.execute({
					sessionId: session,
					input: JSON.stringify(chaosPlan(session, number)),
					context: {},
					idempotencyKey: `${session}-${number}`,
					signal,
				})
				.result(),
		watch: (after, signal) =>
			client.watch(session, { follow: true, signal, ...(after === undefined ? {} : { after }) }),
	});
}

function startUser(session: string, continues: () => boolean, { ask, watch }: Access): ChaosUser {
	const leaving = new AbortController();
	const { signal } = leaving;
	const seen: string[] = [];
	let asked = 0;
	let ended = 0;
	let broken = 0;
	let heard = Promise.withResolvers<void>();

	async function watchOn(): Promise<void> {
		while (!signal.aborted) {
			try {
				for await (const { id, event } of watch(seen.at(-1), signal)) {
					if (id !== undefined) seen.push(id);
					if (event.type === "run_end" || event.type === "execute_complete") ended++;
					heard.resolve();
					heard = Promise.withResolvers();
				}
			} catch {
				// Not begun yet, or cut off.
			}
			broken++;
			await pause(20);
		}
	}

	async function askOn(): Promise<void> {
		for (let number = 0; number < 2 || continues(); number++) {
			for (;;) {
				try {
					await ask(number, signal);
					break;
				} catch (error) {
					if (signal.aborted) return;
					if ((error as { retryable?: boolean }).retryable === false) throw error;
					await pause(50);
				}
			}
			asked++;
			while (ended < asked && !signal.aborted) await Promise.race([heard.promise, pause(200)]);
			if (signal.aborted) return;
		}
	}

	const watching = watchOn();
	const over = askOn();
	over.catch(() => {});
	return {
		session,
		seen,
		get asked() {
			return asked;
		},
		get ended() {
			return ended;
		},
		get broken() {
			return broken;
		},
		over,
		async leave() {
			leaving.abort();
			await Promise.allSettled([watching, over]);
		},
	};
}

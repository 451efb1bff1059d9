// Shared by the tests of dispatch: hosts on a separate schema, and inputs without a waiting caller.
import { messageToJSON, UserMessage } from "@holdfast/upp";
import type { WorkTaker } from "holdfast/host";
import { afterEach, beforeEach } from "vitest";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "../index.ts";
import { testServer } from "../test-server.fixture.ts";

/** The store of a test. */
export interface TestStore {
	readonly url: string;
	readonly schema: string;
	/** Called after the test, in reverse order. */
	readonly ends: (() => unknown)[];
}

/** Creates a store for each test of a file, and closes it afterwards. */
export function storeOfEachTest(): TestStore {
	const store = { url: "", schema: "", ends: [] as (() => unknown)[] };
	beforeEach(async () => {
		const server = await testServer();
		Object.assign(store, { url: server.url, schema: server.schema(), ends: [] });
	});
	afterEach(async () => {
		for (const end of store.ends.reverse()) await end();
	});
	return store;
}

export function openHost(
	{ url, schema, ends }: TestStore,
	options: Partial<PostgresHostOptions> = {},
): PostgresHost {
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 60_000, ...options });
	ends.push(() => host.close());
	return host;
}

/** Creates a message without a waiting caller. */
export function inputOf(text: string) {
	const id = globalThis.crypto.randomUUID();
	const message = messageToJSON(new UserMessage(text, { id }));
	return { id, kind: "message" as const, runId: id, body: { shape: "text", message } };
}

/** A taker, and the sessions it received. Each piece of work waits for `open`. */
export interface TestTaker {
	readonly begun: string[];
	readonly ended: string[];
	/** How many it worked on at once at most. */
	readonly most: number;
	open(): void;
	stop(): Promise<void>;
}

/** Takes from the queue of a host. */
export async function takeFrom(
	{ ends }: TestStore,
	host: PostgresHost,
	{ atOnce = 1, isOurs = () => true, work = async () => {} }: Partial<WorkTaker> = {},
): Promise<TestTaker> {
	const gate = Promise.withResolvers<void>();
	const begun: string[] = [];
	const ended: string[] = [];
	let busy = 0;
	let most = 0;
	const taking = await host.queue.take({
		atOnce,
		isOurs,
		async work(key) {
			begun.push(key);
			busy++;
			most = Math.max(most, busy);
			await gate.promise;
			busy--;
			const result = await work(key);
			if (result === "not-ours") return result;
			ended.push(key);
			return undefined;
		},
	});
	ends.push(() => taking.stop());
	ends.push(() => gate.resolve());
	return {
		begun,
		ended,
		get most() {
			return most;
		},
		open: () => gate.resolve(),
		stop: () => taking.stop(),
	};
}

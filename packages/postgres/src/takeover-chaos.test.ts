// How long it takes until the sessions of a stopped or disconnected worker are handed to others, and what the worker
// finds when it returns.
import { append, begin, input, note, notes, take } from "@holdfast/testing/cases";
import { startRemoteJournal } from "@holdfast/testing/remote-journal";
import type { Journal } from "holdfast/host";
import { expect, onTestFinished, test } from "vitest";
import { wayTo } from "./cut-connections.fixture.ts";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** The guaranteed time in milliseconds; a busy machine gets several attempts. */
const promised = 2_000;
const attempts = 6;

async function newHost(options: PostgresHostOptions): Promise<PostgresHost> {
	const host = postgresHost(options);
	onTestFinished(() => host.close());
	return host;
}

/** Something that befalls a worker, which has a journal. */
interface Fallible {
	readonly journal: Journal;
	fall(): void;
	rise(): void;
	/** It falls no more. */
	end(): unknown;
}

async function measure(fallible: (options: PostgresHostOptions) => Promise<Fallible>): Promise<number> {
	const { url, schema } = await testServer();
	const options = { connectionString: url, schema: schema(), patienceMs: 100_000 };
	const other = await newHost({ ...options, leaseTtlMs: 120_000 });
	const worker = await fallible(options);
	onTestFinished(async () => void (await worker.end()));
	const handed: { key: string; at: number }[] = [];
	const taking = await other.queue.take({
		atOnce: 10,
		isOurs: () => true,
		work: async (key) => void handed.push({ key, at: performance.now() }),
	});
	onTestFinished(() => taking.stop());
	const took: number[] = [];
	for (let attempt = 0; attempt < attempts && (took.at(-1) ?? promised) >= promised; attempt++) {
		const key = `s${attempt}`;
		const lease = await begin(worker.journal, key);
		let lost = false;
		lease.whenLost(() => {
			lost = true;
		});
		const fell = performance.now();
		worker.fall();
		await expect.poll(() => handed.some((each) => each.key === key), { interval: 20 }).toBe(true);
		took.push((handed.find((each) => each.key === key)?.at ?? 0) - fell);
		await append(await take(other.journal, key), "run-1", note("taken over"));
		const late = append(lease, "run-1", note("late"));
		late.catch(() => {});
		worker.rise();
		await expect(late).rejects.toMatchObject({ code: "lease_lost" });
		await expect.poll(() => lost).toBe(true);
		expect(notes(await other.journal.read(key))).toEqual(["taken over"]);
		// It works as before, with the sessions it takes from now on.
		await worker.journal.submit(key, input(`again ${attempt}`));
	}
	return Math.min(...took);
}

test("a worker that is stopped loses its sessions in less than two seconds, and is fenced when it continues", async () => {
	const took = await measure(async (options) => {
		const journal = await startRemoteJournal(
			new URL("./worker-process.fixture.ts", import.meta.url),
			options,
		);
		return {
			journal,
			fall: () => void journal.child.kill("SIGSTOP"),
			rise: () => void journal.child.kill("SIGCONT"),
			end: () => journal.end("SIGKILL"),
		};
	});
	expect(took).toBeLessThan(promised);
});

test("a worker that is cut off from the database loses its sessions in less than two seconds, and is fenced when it reconnects", async () => {
	const { port } = await testServer();
	const way = await wayTo(port);
	const took = await measure(async ({ connectionString = "", ...options }) => {
		const { journal } = await newHost({ ...options, connectionString: way.url(connectionString) });
		return { journal, fall: () => way.cut(), rise: () => way.join(), end: () => way.join() };
	});
	expect(took).toBeLessThan(promised);
});

// Work in flight when the server, or the connection to it, is lost.
import { append, begin, ended, input, note, notes, take } from "@holdfast/testing/cases";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { expect, onTestFinished, test } from "vitest";
import { wayTo } from "./cut-connections.fixture.ts";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

const patient = { leaseTtlMs: 120_000, patienceMs: 100_000 };

function open(options: PostgresHostOptions): PostgresHost {
	const host = postgresHost(options);
	onTestFinished(() => host.close());
	return host;
}

const unavailable = expect.objectContaining({ code: "db_unavailable", retryable: true });

test("an unavailable server is reported, at once or after the patience, and used once it is available", async () => {
	const { url, schema, port } = await testServer();
	const way = await wayTo(port);
	way.cut();
	const host = open({ connectionString: way.url(url), schema: schema(), patienceMs: 100 });
	await expect(host.journal.head("s")).rejects.toEqual(unavailable);
	await expect(host.journal.submit("s", input("i"))).rejects.toEqual(unavailable);
	await expect(host.values.values("s", "o").get("n")).rejects.toEqual(unavailable);
	way.join();
	expect((await host.journal.submit("s", input("i"))).order).toBe(1);
});

test("writes whose confirmations are lost are made once, in order, and none is missing", async () => {
	const { url, schema, port } = await testServer();
	const way = await wayTo(port);
	const name = schema();
	const host = open({ connectionString: way.url(url), schema: name, ...patient });
	const other = open({ connectionString: url, schema: name, ...patient });
	const lease = await begin(host.journal, "s");
	const submitted: number[] = [];
	for (let round = 0; round < 12; round++) {
		const appended = append(lease, "run-1", note(round));
		const said = host.journal.submit("t", input(`i${round}`));
		// Sometimes the server receives it but its answer is lost, sometimes it receives nothing.
		if (round % 3 === 0) way.deafen();
		if (round % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
		if (round % 3 === 0)
			await expect.poll(async () => (await other.journal.inbox("t")).length).toBe(round + 1);
		way.cut();
		way.join();
		await appended;
		submitted.push((await said).order);
	}
	await append(lease, "run-1", ended);
	expect(notes(await other.journal.read("s"))).toEqual(Array.from({ length: 12 }, (_, round) => round));
	expect(submitted).toEqual(Array.from({ length: 12 }, (_, round) => round + 1));
	expect((await other.journal.inbox("t")).map(({ id }) => id)).toEqual(
		submitted.map((order) => `i${order - 1}`),
	);
});

test("a watcher that loses its connection gets the commits it missed", async () => {
	const { url, schema, port } = await testServer();
	const way = await wayTo(port);
	const name = schema();
	const watching = open({ connectionString: way.url(url), schema: name, ...patient });
	const other = open({ connectionString: url, schema: name, ...patient });
	const lease = await begin(other.journal, "s");
	let read: unknown[] = [];
	watching.journal.watch("s", () => {
		void (async () => {
			read = notes(await watching.journal.read("s"));
		})().catch(() => {});
	});
	await append(lease, "run-1", note(1));
	await expect.poll(() => read).toEqual([1]);
	way.cut();
	await append(lease, "run-1", note(2));
	way.join();
	await expect.poll(() => read).toEqual([1, 2]);
	await append(lease, "run-1", note(3));
	await expect.poll(() => read).toEqual([1, 2, 3]);
});

test("an owner that was cut off is fenced if another took over, and is notified", async () => {
	const { url, schema, port } = await testServer();
	const way = await wayTo(port);
	const name = schema();
	const cutOff = open({
		connectionString: way.url(url),
		schema: name,
		leaseTtlMs: 1_000,
		patienceMs: 100_000,
	});
	const other = open({ connectionString: url, schema: name, ...patient });
	const lease = await begin(cutOff.journal, "s");
	let lost = false;
	lease.whenLost(() => {
		lost = true;
	});
	way.cut();
	const late = append(lease, "run-1", note("late"));
	void late.catch(() => {});
	await expect.poll(async () => (await other.journal.acquire("s")).ok).toBe(true);
	await append(await take(other.journal, "s"), "run-1", note("taken over"));
	way.join();
	await expect(late).rejects.toMatchObject({ code: "lease_lost" });
	await expect.poll(() => lost).toBe(true);
	expect(notes(await other.journal.read("s"))).toEqual(["taken over"]);
});

test("one connection listens for any number of watchers, and the others are limited", async () => {
	const { url, schema, port } = await testServer();
	const way = await wayTo(port);
	const host = open({ connectionString: way.url(url), schema: schema(), maxConnections: 3, ...patient });
	for (let at = 0; at < 200; at++) host.journal.watch(`s${at}`, () => {});
	await Promise.all(Array.from({ length: 200 }, (_, at) => host.journal.submit(`s${at}`, input("i"))));
	await Promise.all(Array.from({ length: 200 }, (_, at) => host.journal.head(`s${at}`)));
	expect(way.made).toBeLessThanOrEqual(4);
});

test("a server that crashes and restarts loses nothing, and runs continue", async () => {
	const server = await startPostgresServer();
	onTestFinished(() => server.stop());
	const options = { connectionString: server.url, ...patient };
	const [one, two] = [open(options), open(options)];
	const lease = await begin(one.journal, "s");
	const heard: unknown[] = [];
	two.journal.watch("s", () => heard.push(1));
	for (const signal of ["SIGQUIT", "SIGINT"] as const) {
		const going = Promise.all(
			Array.from({ length: 20 }, (_, at) => append(lease, "run-1", note(`${signal} ${at}`))),
		);
		await server.restart({ signal });
		await going;
	}
	heard.length = 0;
	await append(lease, "run-1", note("after"));
	await expect.poll(() => heard.length).toBeGreaterThan(0);
	const all = ["SIGQUIT", "SIGINT"].flatMap((signal) =>
		Array.from({ length: 20 }, (_, at) => `${signal} ${at}`),
	);
	expect(notes(await two.journal.read("s"))).toEqual([...all, "after"]);
	expect((await two.journal.head("s"))?.holder).toEqual({ workerId: one.journal.workerId, alive: true });
});

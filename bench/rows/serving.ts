// The cost of HTTP: deltas to one client compared with bare writes of the same text, many watchers of one run, idle
// streams, and short durable runs end to end. Clients run in a separate process, which shares the machine with the
// server.
import { createServer as createBareServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type SessionService, sessionService } from "@holdfast/server";
import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { type ClientReport, startClients } from "../http-client.ts";
import { collector, effort, type Measurement, median, mustBe, p99, report } from "../measure.ts";
import { lookTool, oneStepModel, pacedModel } from "../stub-model.ts";

const collect = collector();
const deltaCount = effort.size(400_000, 100_000);
const batchSize = 256;

type Event =
	| { readonly type: "text_delta"; readonly delta: string }
	| { readonly type: "execute_complete"; readonly status: "completed" };

/** Yields the batches that a service emits for a run that streams a word many times. */
function* batches(): Generator<{ id: string; event: Event }[]> {
	for (let sent = 0; sent < deltaCount; sent += batchSize) {
		const size = Math.min(batchSize, deltaCount - sent);
		yield Array.from({ length: size }, (_, at) => ({
			id: `2.${sent + at}.0`,
			event: { type: "text_delta", delta: "word " },
		}));
	}
	yield [{ id: "3.0.0", event: { type: "execute_complete", status: "completed" } }];
}

/** A service of one session with all events available: only HTTP is measured. */
const talker = {
	async submit() {
		throw new Error("Nothing is submitted here.");
	},
	async *follow() {
		yield* batches();
	},
	async supervise() {},
	async close() {},
} as unknown as SessionService;

async function doneOf(
	clients: ReturnType<typeof startClients>,
): Promise<Extract<ClientReport, { what: "done" }>> {
	for (;;) {
		const report = await clients.next();
		if (report.what === "done") return report;
	}
}

async function drainRate(port: number): Promise<{ rate: number; bytes: number }> {
	const { seconds, bytes } = await doneOf(startClients("drain", port, 1, "/api/agent/session/0/events"));
	return { rate: deltaCount / seconds, bytes };
}

async function deltas(): Promise<readonly Measurement[]> {
	const server = createServer({ service: talker });
	const { port } = await server.listen({ port: 0 });
	const bare = createBareServer((_, response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		const all = batches();
		const write = (): void => {
			for (let next = all.next(); next.done !== true; next = all.next()) {
				const records = next.value.map(({ id, event }) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
				if (response.write(records.join(""))) continue;
				response.once("drain", write);
				return;
			}
			response.end();
		};
		write();
	});
	await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));
	const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
	for (let at = -1; at < effort.repetitions(15); at++) {
		const ours = await drainRate(port);
		const floor = await drainRate((bare.address() as AddressInfo).port);
		mustBe(
			"the text that came, within its framing",
			Math.abs(ours.bytes - floor.bytes) < floor.bytes / 50,
			true,
		);
		if (at < 0) continue;
		rates.ours.push(ours.rate);
		rates.bare.push(floor.rate);
	}
	await server.close({ drainMs: 0 });
	bare.close();
	const slowest = (all: readonly number[]): number => -p99(all.map((rate) => -rate));
	return [
		{
			what: "deltas through HTTP to one client",
			unit: "/s",
			median: median(rates.ours),
			p99: slowest(rates.ours),
			target: { is: "at least", value: 100_000 },
		},
		{
			what: "floor: bare node:http writes of the same",
			unit: "/s",
			median: median(rates.bare),
			p99: slowest(rates.bare),
		},
		{
			what: "bare writes are faster by",
			unit: "×",
			median: median(rates.bare.map((rate, at) => rate / (rates.ours[at] as number))),
			target: { is: "at most", value: 2 },
		},
	];
}

/** Returns the wall and CPU milliseconds of a run that streams at its own pace to this many watchers. */
async function watchedRun(watchers: number): Promise<{ wall: number; cpu: number }> {
	let start = (): void => {};
	const begin = new Promise<void>((resolve) => {
		start = resolve;
	});
	const pace = async (): Promise<void> => {
		await begin;
		await new Promise((resolve) => setTimeout(resolve, 5));
	};
	const model = pacedModel(400, pace);
	const service = sessionService({ host: memoryHost(), agent: { model } });
	const server = createServer({ service, maxStreams: "unlimited" });
	const { port, url } = await server.listen({ port: 0 });
	const response = await fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ sessionId: "0", input: { role: "user", content: "Talk." }, context: {} }),
	});
	const clients = startClients("watch", port, watchers, "/api/agent/session/0/events");
	mustBe("what the clients report first", (await clients.next()).what, "open");
	const before = process.cpuUsage();
	const startedAt = performance.now();
	start();
	await response.text();
	const wall = performance.now() - startedAt;
	await doneOf(clients);
	const { user, system } = process.cpuUsage(before);
	await server.close({ drainMs: 0 });
	return { wall, cpu: (user + system) / 1000 };
}

async function crowd(): Promise<readonly Measurement[]> {
	const alone: number[] = [];
	const watched: number[] = [];
	const slower: number[] = [];
	const cpu: number[] = [];
	for (let at = 0; at < effort.repetitions(7); at++) {
		const one = await watchedRun(1);
		const many = await watchedRun(1_000);
		alone.push(one.wall);
		watched.push(many.wall);
		slower.push((many.wall / one.wall - 1) * 100);
		cpu.push(((many.cpu - one.cpu) * 1000) / 1_000);
	}
	return [
		{ what: "a run at 200 deltas/s, one watcher", unit: "ms", median: median(alone) },
		{ what: "the same run, 1,000 watchers", unit: "ms", median: median(watched) },
		{
			what: "1,000 watchers slow it by",
			unit: "%",
			median: median(slower),
			target: { is: "at most", value: 10 },
		},
		{ what: "CPU a watcher of the whole run", unit: "µs", median: median(cpu) },
	];
}

async function idleStreams(): Promise<Measurement> {
	const count = 10_000;
	const service = sessionService({ host: memoryHost(), agent: { model: oneStepModel() } });
	const server = createServer({ service, maxStreams: "unlimited" });
	const { port, url } = await server.listen({ port: 0 });
	for (let at = 0; at < 100; at++)
		await (
			await fetch(`${url}/api/agent/execute`, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({
					sessionId: String(at),
					input: { role: "user", content: "Look." },
					context: {},
				}),
			})
		).text();
	const resident = async (): Promise<number> => {
		for (let at = 0; at < 4; at++) {
			collect();
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
		return process.memoryUsage().rss;
	};
	const before = await resident();
	const clients = startClients("idle", port, count, "/api/agent/session/*/events?follow=1");
	mustBe("what the clients report first", (await clients.next()).what, "open");
	const each = ((await resident()) - before) / count;
	const sockets = process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap");
	mustBe("whether all streams are still open", sockets.length >= count, true);
	clients.process.kill();
	await server.close({ drainMs: 0 });
	return {
		what: "resident memory of an idle stream",
		unit: "B",
		median: each,
		target: { is: "at most", value: 20 * 1024 },
	};
}

async function shortRuns(): Promise<Measurement> {
	const count = effort.size(4_000, 1_000);
	const host = sqliteHost("short-runs.db");
	const server = createServer({
		service: sessionService({ host, agent: { model: oneStepModel(), tools: [lookTool()] } }),
	});
	const { port } = await server.listen({ port: 0 });
	const rates: number[] = [];
	const cpu: number[] = [];
	for (let at = -1; at < effort.repetitions(7); at++) {
		const before = process.cpuUsage();
		const { seconds } = await doneOf(startClients("runs", port, count));
		const { user, system } = process.cpuUsage(before);
		if (at < 0) continue;
		rates.push(count / seconds);
		cpu.push((user + system) / count);
	}
	await server.close();
	await host.close();
	return {
		what: "short durable runs over HTTP, 32 at a time",
		unit: "/s",
		median: median(rates),
		p99: -p99(rates.map((rate) => -rate)),
		cpu: median(cpu),
		target: { is: "at least", value: 500 },
	};
}

// Memory comes first: memory released by the other rows would be reused, and hide the growth.
const idle = await idleStreams();
report([...(await deltas()), ...(await crowd()), idle, await shortRuns()]);

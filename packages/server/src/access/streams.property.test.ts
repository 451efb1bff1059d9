import { connect } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createServer } from "../server.ts";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, refusal, setUp } from "../setup.fixture.ts";
import { until } from "../sse.fixture.ts";

const apiKeys = { "key-of-a": "a", "key-of-b": "b" };
const as = (tenant: string): Record<string, string> => ({ "x-api-key": `key-of-${tenant}` });

test("for any order of streams, a tenant has as many as the limit allows, and only its own are counted", async () => {
	const tenant = fc.constantFrom("a", "b");
	const session = fc.constantFrom("1", "2", "3");
	const step = fc.oneof(
		fc.record({ does: fc.constant("execute"), tenant, session }),
		fc.record({ does: fc.constant("follow"), tenant, session }),
		fc.record({ does: fc.constant("look"), tenant, session }),
		fc.record({ does: fc.constant("leave"), tenant, session }),
		fc.record({ does: fc.constant("complete"), tenant, session }),
	);
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 1, max: 4 }),
			fc.array(step, { maxLength: 40 }),
			async (most, steps) => {
				const service = fakeService({ holds: true, say: () => deltas(2) });
				const { get, post } = setUp(service, { apiKeys, maxStreams: most });
				const running = new Set<string>();
				const known = new Set<string>();
				const open = new Map<string, { name: string; answer: Response; follows: boolean }[]>([
					["a", []],
					["b", []],
				]);
				for (const { does, tenant, session } of steps) {
					const name = `${tenant}/${session}`;
					const mine = open.get(tenant) ?? [];
					if (does === "execute" || does === "follow") {
						const follows = does === "follow";
						const before = service.submitted.length;
						const answer = follows
							? await get(`/api/agent/session/${session}/events?follow=1`, as(tenant))
							: await post("/api/agent/execute", { ...hello, sessionId: session }, as(tenant));
						const otherwise = follows ? (known.has(name) ? 200 : 404) : running.has(name) ? 409 : 200;
						expect(answer.status).toBe(mine.length >= most ? 429 : otherwise);
						if (answer.status === 200) mine.push({ name, answer, follows });
						if (answer.status === 429) {
							expect(answer.headers.get("retry-after")).toBe("1");
							expect(await refusal(answer)).toEqual([429, "rate_limited"]);
							expect(service.submitted).toHaveLength(before);
						} else if (!follows && answer.status === 200) {
							running.add(name);
							known.add(name);
						}
					} else if (does === "look") {
						expect((await get(`/api/agent/session/${session}`, as(tenant))).status).toBe(
							known.has(name) ? 200 : 404,
						);
					} else if (does === "leave") {
						await mine.shift()?.answer.body?.cancel();
					} else if (running.delete(name)) {
						service.complete(tenant, session);
						const ended = mine.filter((each) => each.name === name && !each.follows);
						for (const { answer } of ended) await answer.text();
						open.set(
							tenant,
							mine.filter((each) => !ended.includes(each)),
						);
					}
				}
				for (const each of [...open.values()].flat()) await each.answer.body?.cancel();
				for (const tenant of ["a", "b"]) {
					await post("/api/agent/execute", { ...hello, sessionId: "last" }, as(tenant));
					for (let count = 1; count < most; count++)
						expect((await get("/api/agent/session/last/events", as(tenant))).status).toBe(200);
					expect((await get("/api/agent/session/last/events", as(tenant))).status).toBe(429);
				}
			},
		),
		{ numRuns: 150 },
	);
});

test("a reader that has stopped reading keeps its slot until it is disconnected, and no run starts in the meantime", async () => {
	const service = fakeService({ holds: true, say: () => deltas(1) });
	const server = createServer({ service, maxStreams: 2, heartbeatMs: 600 });
	const { port, url } = await server.listen({ port: 0 });
	const begin = (sessionId: string): Promise<Response> =>
		fetch(`${url}/api/agent/execute`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ ...hello, sessionId }),
		});
	try {
		const first = await begin("s");
		const stalled = connect(port, "127.0.0.1");
		stalled.on("error", () => {});
		stalled.write("GET /api/agent/session/s/events?follow=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
		const openStreams = async (): Promise<number> =>
			Number(/^holdfast_open_streams (.*)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
		await until("both are open", async () => (await openStreams()) === 2);
		stalled.pause();
		service.emit("default", "s", deltas(1, "x".repeat(24_000_000)));
		const refused = await begin("t");
		expect(await refusal(refused)).toEqual([429, "rate_limited"]);
		expect(service.submitted).toHaveLength(1);
		expect((await fetch(`${url}/api/agent/session/s/stop`, { method: "POST" })).status).toBe(200);
		await until("it was let go", async () => (await begin("t")).status === 200);
		stalled.destroy();
		await first.body?.cancel();
	} finally {
		await server.close({ drainMs: 0 });
	}
});

test("a thousand streams are the default limit, and 'unlimited' has no limit", async () => {
	const opened = async (options: { readonly maxStreams?: "unlimited" }): Promise<number> => {
		const { get, post } = setUp(fakeService({ holds: true }), options);
		await post("/api/agent/execute", { ...hello, sessionId: "s" });
		let count = 1;
		while (count < 1_100 && (await get("/api/agent/session/s/events")).status === 200) count++;
		return count;
	};
	expect(await opened({})).toBe(1_000);
	expect(await opened({ maxStreams: "unlimited" })).toBe(1_100);
});

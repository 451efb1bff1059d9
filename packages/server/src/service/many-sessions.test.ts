// More sessions are used than are kept in memory: those at rest make way, and those with something to do or to wait for
// notices nothing of it.

import { manualTime, scriptedModel } from "@holdfast/testing";
import type { AgentOptions } from "holdfast";
import { memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import { asks, locate, says, toolResult } from "./messages.fixture.ts";
import type { SessionService, SessionServiceOptions } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

/** More than are kept in memory, and so many more that each of those that were there before is looked at. */
const many = 1_100;

/** Serves sessions whose answers follow from what was said last: a call, an answer that waits for `gate`, or "Fine.". */
function serve(options: Partial<SessionServiceOptions & { readonly ports: AgentOptions["ports"] }> = {}) {
	const gate = Promise.withResolvers<void>();
	const model = scriptedModel(({ messages }) => {
		const last = JSON.stringify(messages.at(-1));
		if (last.includes("ask")) return { toolCalls: [asks("a")] };
		return last.includes("wait") ? { text: "At last.", gate: gate.promise } : "Fine.";
	});
	const { host = memoryHost(), ports, ...rest } = options;
	const agent = { model, tools: [locate], ...(ports === undefined ? {} : { ports }) };
	return { service: sessionService({ host, agent, ...rest }), model, open: gate.resolve };
}

const start = (service: SessionService, sessionId: string, content: string) =>
	service.submit("t", sessionId, { input: says(content), context: {} });

async function useMany(service: SessionService): Promise<void> {
	for (let number = 0; number < many; number++) {
		const { sessionId, after } = await start(service, `other-${number}`, "go");
		for await (const _ of service.follow("t", sessionId, { after, until: "complete" }));
	}
}

/** Types of the events, up to the end of an execution. */
async function typesOf(events: AsyncIterable<readonly LoggedEvent[]>): Promise<string[]> {
	const all: string[] = [];
	for await (const batch of events) all.push(...batch.map(({ event }) => event.type));
	return all;
}

test("an idle session is evicted and releases its lease; used again, it is unchanged", async () => {
	const host = memoryHost();
	const { acquire } = host.journal;
	const released = new Set<string>();
	host.journal.acquire = async (key, options) => {
		const acquired = await acquire(key, options);
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const release = lease.release.bind(lease);
		lease.release = () => {
			released.add(key);
			return release();
		};
		return acquired;
	};
	const { service } = serve({ host });
	const first = await start(service, "first", "go");
	await typesOf(service.follow("t", "first", { after: first.after, until: "complete" }));
	await useMany(service);
	expect(released.size).toBe(many + 1 - 1_000);
	expect([...released]).toContainEqual(expect.stringContaining("first"));
	const again = await service.submit("t", "first", { input: says("continue") });
	await typesOf(service.follow("t", "first", { after: again.after, until: "complete" }));
	expect((await service.get("t", "first"))?.messages).toHaveLength(4);
	await service.close();
});

test("a running session is not evicted: closing the service suspends it", async () => {
	const { service, model } = serve();
	await start(service, "runs", "wait");
	await useMany(service);
	const { signal } = model.requests[0] ?? {};
	expect(signal?.aborted).toBe(false);
	await service.close();
	expect(signal?.aborted).toBe(true);
});

test("a running session is not evicted: a service that drains lets it finish", async () => {
	const { service, open } = serve();
	await start(service, "runs", "wait");
	await useMany(service);
	const closed = service.close({ drainMs: 60_000 });
	open();
	await closed;
	expect((await service.get("t", "runs"))?.status).toBe("completed");
});

test("watchers of a session get new events, whether it runs or is idle", async () => {
	const { service, open } = serve();
	const running = await start(service, "runs", "wait");
	const watched = typesOf(service.follow("t", "runs", { after: running.after, until: "complete" }));
	const before = await start(service, "rests", "go");
	await typesOf(service.follow("t", "rests", { after: before.after, until: "complete" }));
	const { lastEventId = "" } = (await service.get("t", "rests")) ?? {};
	const rests = service.follow("t", "rests", { after: lastEventId, until: "complete" });
	const next = typesOf(rests);
	await useMany(service);
	open();
	expect((await watched).at(-1)).toBe("execute_complete");
	await service.submit("t", "rests", { input: says("continue") });
	expect(await next).toContain("text_delta");
	await service.close();
});

test("a session that waits for an answer accepts it, evicted or not", async () => {
	const { service } = serve();
	const asked = await start(service, "waits", "ask");
	await typesOf(service.follow("t", "waits", { after: asked.after, until: "complete" }));
	await useMany(service);
	const answered = await service.submit("t", "waits", { input: [toolResult("a")] });
	expect(answered.runId).toBe(asked.runId);
	const rest = await typesOf(service.follow("t", "waits", { after: answered.after, until: "complete" }));
	expect(rest.at(-2)).toBe("session_end");
	await service.close();
});

test("a deadline is handled while other sessions come and go, until the service closes", async () => {
	const time = manualTime();
	const { service } = serve({ ports: time.ports, remoteToolTimeoutMs: 5_000 });
	for (const sessionId of ["one", "two"]) {
		const { after } = await start(service, sessionId, "ask");
		await typesOf(service.follow("t", sessionId, { after, until: "complete" }));
		time.pass(1_000);
	}
	await useMany(service);
	expect(time.timers.size).toBe(2);
	time.pass(3_000);
	await expect.poll(async () => (await service.get("t", "one"))?.status).toBe("completed");
	expect((await service.get("t", "two"))?.status).toBe("awaiting_tool_execution");
	await service.close();
	expect(time.timers.size).toBe(0);
});

// Ids of remote tasks over a crash, and how long they are kept.
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { memoryHost, type ToolContext } from "holdfast";
import { memoryRecords, type RecordSpace } from "holdfast/host";
import { afterEach, expect, test } from "vitest";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { a2aServer, remoteAgent } from "../index.ts";
import { KeptTasks } from "./kept-tasks.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

const context = (attempt: number) =>
	({
		signal: new AbortController().signal,
		idempotencyKey: "run.1.0",
		attempt,
		emit() {},
	}) as unknown as ToolContext;

/** An agent that lists no tasks, and takes every message for another one. */
async function forgetful(model: ReturnType<typeof scriptedModel>): Promise<string> {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model } });
	let messages = 0;
	const listening = await listen(async (request) => {
		if (request.method !== "POST") return server.fetch(request);
		const asked = await request.json();
		if (asked.method === "ListTasks") asked.method = "NoSuchMethod";
		if (asked.method === "SendStreamingMessage")
			Object.assign(asked.params.message, { messageId: `m${++messages}`, contextId: `c${messages}` });
		const { url, headers, signal } = request;
		return server.fetch(new Request(url, { method: "POST", headers, signal, body: JSON.stringify(asked) }));
	});
	const { url } = listening;
	const server = a2aServer({ service, name: "Forgetful", description: "Forgets.", url });
	ends.push(
		() => host.close(),
		() => service.close(),
		() => listening.close(),
	);
	return url;
}

test("an attempt after a crash continues the task of the previous one, regardless of the agent's memory", async () => {
	const answers: ((text: string) => void)[] = [];
	const model = scriptedModel(() => new Promise<string>((resolve) => answers.push(resolve)));
	const records = memoryRecords();
	const url = await forgetful(model);
	const kept = new KeptTasks(records);
	// Each attempt is of a process of its own; nobody hears of the first one any more.
	const cut = (await remoteAgent({ url, records, pollEveryMs: 5 })).run({ prompt: "?" }, context(1));
	await expect.poll(async () => (await records.list("a2a.tasks")).length).toBe(1);
	const again = (await remoteAgent({ url, records, pollEveryMs: 5 })).run({ prompt: "?" }, context(2));
	await expect.poll(() => answers.length).toBeGreaterThan(0);
	for (const answer of answers) answer("Once.");
	expect(await again).toBe("Once.");
	expect(await cut).toBe("Once.");
	expect(model.requests).toHaveLength(1);
	const [{ name, value } = { name: "", value: undefined }] = await records.list("a2a.tasks");
	expect(await kept.find(name)).toBe((value as { taskId: string }).taskId);
});

const names = async (records: RecordSpace) => (await records.list("a2a.tasks")).map(({ name }) => name);

test("an id is kept for ten minutes after its call, or a month if no process tracks it", async () => {
	const records = memoryRecords();
	let now = 0;
	const clock = (): number => now;
	const first = new KeptTasks(records, clock);
	await first.keep("lost", "1");
	await first.keep("returned", "2");
	first.over("returned");
	now = 599_999;
	await first.keep("next", "3");
	expect(await first.find("returned")).toBe("2");
	now = 600_000;
	await first.keep("last", "4");
	expect(await names(records)).toEqual(["last", "lost", "next"]);
	const second = new KeptTasks(records, clock);
	now = 30 * 24 * 3_600_000;
	await second.keep("later", "5");
	expect(await names(records)).toContain("lost");
	const third = new KeptTasks(records, clock);
	now += 600_000;
	await third.keep("latest", "6");
	await expect.poll(() => names(records)).toEqual(["last", "later", "latest"]);
});

test("expired ids are removed page by page", async () => {
	const records = memoryRecords();
	const value = { taskId: "t", at: 0 };
	const writes = Array.from({ length: 1_200 }, (_, at) => ({
		shelf: "a2a.tasks",
		name: String(at).padStart(4, "0"),
		value,
	}));
	await records.commit([], writes);
	await new KeptTasks(records, () => Date.UTC(2030, 0)).keep("new", "1");
	await expect.poll(() => names(records)).toEqual(["new"]);
});

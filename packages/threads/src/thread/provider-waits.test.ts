// Threads whose provider is busy wait as sessions do, and report it.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { definePrompt, ProviderError } from "../define/index.ts";
import { served } from "../endpoints/endpoints.fixture.ts";
import type { PromptDefinition } from "../types/index.ts";
import { oneAgent, type Reply, said, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const busy = (retryAfterMs?: number) => ({
	error: new ProviderError("busy", "rate_limit", 429, retryAfterMs),
});
const sqlite = (): Host => sqliteHost(join(mkdtempSync(join(tmpdir(), "threads-")), "threads.db"));

test("on a durable host an execution waits for its provider without an option", async () => {
	const host = sqlite();
	const { threads } = start(oneAgent(scripted([busy(60_000), "never"])), { host });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const [head] = await host.journal.list({ state: "waiting" });
	expect(head?.key).toBe(threads.storeKeyOf(threadId));
	await threads.close();
	await host.close();
});

test.each([
	["in memory", () => memoryHost(), undefined],
	["where it is told never to wait", sqlite, "never"],
] as const)("%s it fails, and the next message runs", async (_, makeHost, modelWait) => {
	const host = makeHost();
	const options = { host, ...(modelWait === undefined ? {} : { modelWait }) };
	const { threads } = start(oneAgent(scripted([busy(), "Back."])), options);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	await threads.queueMessage(threadId, { content: "Again" });
	await threads.quiet();
	expect(await said(threads, threadId)).toEqual(["user: Go", "user: Again", "assistant: Back."]);
	await threads.close();
	await host.close();
});

describe.each([
	["memory", () => memoryHost()],
	["SQLite", sqlite],
] as const)("an execution that waits for its provider, in %s,", (_, makeHost) => {
	test("is shown as waiting to watchers, and continues by itself", async () => {
		const host = makeHost();
		const made = served(oneAgent(scripted([busy(1), "Here it is."])), {
			host,
			modelWait: { firstMs: 1, longestMs: 1 },
		});
		const { url } = await made.server.listen({ port: 0 });
		const id = await made.thread();
		const leave = new AbortController();
		const { body } = await fetch(`${url}/api/threads/${id}/stream`, { signal: leave.signal });
		await made.ask("POST", `/api/threads/${id}/messages`, { content: "Go" });
		let text = "";
		for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
			text += piece;
			if (/"type":"execution"[^\n]*"status":"completed"/.test(text)) break;
		}
		leave.abort();
		const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string));
		const executions = events.filter(({ type }) => type === "execution");
		expect(executions.map(({ status }) => status)).toEqual(["running", "waiting", "running", "completed"]);
		expect(executions[1]).toMatchObject({
			reason: "model",
			code: "RATE_LIMITED",
			attempt: 1,
			until: expect.any(Number),
		});
	});

	test("continues at once with a message that arrives while it waits", async () => {
		const host = makeHost();
		const provider = scripted([busy(3_600_000), "Here it is."]);
		const { threads } = start(oneAgent(provider), { host, modelWait: {} });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		await threads.queueMessage(threadId, { content: "And hurry" });
		await threads.quiet();
		expect(await said(threads, threadId)).toEqual(["user: Go", "user: And hurry", "assistant: Here it is."]);
		await threads.close();
		await host.close();
	});

	test("ends when the thread is stopped, and its provider is not called again", async () => {
		const host = makeHost();
		const provider = scripted([busy(3_600_000), "never"]);
		const { threads } = start(oneAgent(provider), { host, modelWait: {} });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		expect(await threads.stop(threadId)).toBe(true);
		expect((await host.journal.head(threads.storeKeyOf(threadId)))?.openRunId).toBeUndefined();
		expect(provider.requests).toHaveLength(1);
		await threads.close();
		await host.close();
	});
});

describe.each([
	["memory", () => memoryHost()],
	["SQLite", sqlite],
] as const)("a prompt that is called as a tool, in %s,", (_, makeHost) => {
	const translate = definePrompt({
		name: "translate",
		toolDescription: "Translates.",
		prompt: "You translate.",
		model: "main",
	}) as unknown as PromptDefinition;
	const project = (script: Parameters<typeof scripted>[0]) =>
		oneAgent(scripted(script), { prompts: [translate], prompt: { tools: ["translate"] } });

	test("waits for its provider, reports that, and continues by itself", async () => {
		const host = makeHost();
		const script = [call("translate", { message: "Guten Tag" }), busy(1), busy(1), "Good day", "Done."];
		const { threads } = start(project(script), { host, modelWait: { firstMs: 1, longestMs: 1 } });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await expect.poll(() => said(threads, threadId)).toContain("assistant: Done.");
		const facts = (await host.journal.read(threads.storeKeyOf(threadId))).map(({ fact }) => fact);
		const waits = facts.flatMap((fact) => (fact.kind === "waiting" ? [fact.children?.[0]?.wait?.model] : []));
		expect(waits).toMatchObject([{ attempt: 1, code: "RATE_LIMITED" }, { attempt: 2 }]);
		expect(waits[1]?.since).toBe(waits[0]?.since);
		await threads.close();
		await host.close();
	});

	test("fails with the error of its provider once it has reached its limit of waits", async () => {
		const host = makeHost();
		const script = [call("translate", { message: "Guten Tag" }), busy(1), busy(1), "It failed."];
		const modelWait = { firstMs: 1, longestMs: 1, attempts: 1 };
		const { threads } = start(project(script), { host, modelWait });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await expect.poll(() => said(threads, threadId)).toContain("assistant: It failed.");
		await threads.close();
		await host.close();
	});

	test("ends with its thread when that is stopped", async () => {
		const host = makeHost();
		const script = [call("translate", { message: "Guten Tag" }), busy(3_600_000), "never"];
		const { threads } = start(project(script), { host, modelWait: {} });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		expect((await host.journal.list({ state: "waiting" })).length).toBe(1);
		expect(await threads.stop(threadId)).toBe(true);
		expect((await host.journal.head(threads.storeKeyOf(threadId)))?.openRunId).toBeUndefined();
		await threads.close();
		await host.close();
	});
});

test("a prompt that waits for its provider continues in the next process", async () => {
	const folder = mkdtempSync(join(tmpdir(), "threads-"));
	const translate = definePrompt({
		name: "translate",
		toolDescription: "Translates.",
		prompt: "You translate.",
		model: "main",
	}) as unknown as PromptDefinition;
	const deploy = (script: Parameters<typeof scripted>[0]) => {
		const host = sqliteHost(join(folder, "threads.db"));
		const items = oneAgent(scripted(script), { prompts: [translate], prompt: { tools: ["translate"] } });
		return { ...start(items, { host, modelWait: { firstMs: 1, longestMs: 1 } }), host };
	};
	const first = deploy([call("translate", { message: "Guten Tag" }), busy(1_500)]);
	const { threadId } = await first.threads.createThread({ agentId: "helper", message: "Go" });
	await first.threads.quiet();
	await first.threads.close();
	await first.host.close();
	const second = deploy(["Good day", "Done."]);
	for await (const run of second.threads.recover()) void run.result();
	await expect.poll(() => said(second.threads, threadId), { timeout: 10_000 }).toContain("assistant: Done.");
	await second.threads.close();
	await second.host.close();
});

test("watchers get the reason why an execution has failed, as its code", async () => {
	const made = served(oneAgent(scripted([{ error: new ProviderError("the key is sk-123", "unknown") }])));
	const { url } = await made.server.listen({ port: 0 });
	const id = await made.thread();
	const leave = new AbortController();
	const { body } = await fetch(`${url}/api/threads/${id}/stream`, { signal: leave.signal });
	await made.ask("POST", `/api/threads/${id}/messages`, { content: "Go" });
	let text = "";
	for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
		text += piece;
		if (/"type":"execution"[^\n]*"status":"failed"/.test(text)) break;
	}
	leave.abort();
	expect(text).toMatch(/"status":"failed".*"error":\{"code":"[A-Z_]+"\}/);
	expect(text).not.toContain("sk-123");
});

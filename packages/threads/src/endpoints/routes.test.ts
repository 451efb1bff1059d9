import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent, defineEffect, definePrompt, defineTool } from "../define/index.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import type { PromptDefinition, ProviderFactoryWithOptions } from "../types/index.ts";
import { served } from "./endpoints.fixture.ts";

/** A reply that comes when it is let go. */
function gated(): { readonly gate: Promise<void>; readonly open: () => void } {
	let open = (): void => {};
	const gate = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { gate, open };
}

test("a thread is created with agent, user and tags, and listed; without an agent none is created [SA-200]", async () => {
	const { ask } = served(oneAgent(scripted([])));
	const made = await ask("POST", "/api/threads", { agent_id: "helper", user_id: "ann", tags: ["a", "b"] });
	expect(made.status).toBe(201);
	expect(made.body).toEqual({
		id: expect.any(String),
		agent_id: "helper",
		user_id: "ann",
		tags: ["a", "b"],
		created_at: expect.any(Number),
		terminated: null,
	});
	const other = await ask("POST", "/api/threads", { agent_id: "helper" });
	expect((await ask("GET", "/api/threads")).body.threads).toEqual([other.body, made.body]);
	expect((await ask("GET", "/api/threads?user_id=ann&tag=b")).body.threads).toEqual([made.body]);
	for (const query of ["user_id=ann", "tag=b"])
		expect((await ask("GET", `/api/threads?${query}`)).body.threads, query).toEqual([made.body]);
	for (const query of ["tag=none", "user_id=bob", "agent_id=other"])
		expect((await ask("GET", `/api/threads?${query}`)).body.threads, query).toEqual([]);
	expect((await ask("GET", `/api/threads/${made.body.id}`)).body).toEqual(made.body);
	for (const body of [{}, { agent_id: "nobody" }, { agent_id: 7 }, { agent_id: "helper", user: "ann" }, []]) {
		const { status } = await ask("POST", "/api/threads", body);
		expect([400, 404]).toContain(status);
	}
	expect((await ask("GET", "/api/threads")).body.threads).toHaveLength(2);
	const page = await ask("GET", "/api/threads?limit=1");
	expect(page.body).toEqual({ threads: [other.body], next: other.body.id });
	expect((await ask("GET", `/api/threads?limit=1&before=${page.body.next}`)).body).toEqual({
		threads: [made.body],
	});
});

test("the same `Idempotency-Key` creates one thread, and one message", async () => {
	const provider = scripted(["One.", "Two."]);
	const { ask, threads } = served(oneAgent(provider));
	const key = { "idempotency-key": "k-1" };
	const [one, two] = [
		await ask("POST", "/api/threads", { agent_id: "helper" }, key),
		await ask("POST", "/api/threads", { agent_id: "helper" }, key),
	];
	expect([one.status, two.status, one.body.id]).toEqual([201, 200, two.body.id]);
	expect((await ask("POST", "/api/threads", { agent_id: "helper", user_id: "x" }, key)).body.code).toBe(
		"idempotency_key_reused",
	);
	const path = `/api/threads/${one.body.id}/messages`;
	const first = await ask("POST", path, { content: "Hi" }, key);
	const again = await ask("POST", path, { content: "Hi" }, key);
	expect([first.status, again.status, first.body.id]).toEqual([202, 200, again.body.id]);
	expect((await ask("POST", path, { content: "Other" }, key)).status).toBe(409);
	await threads.quiet();
	expect(provider.requests).toHaveLength(1);
});

test("a thread is removed with all its data, and only the sent fields are changed [SA-201]", async () => {
	const nightly = defineEffect("Runs at night.", z.object({}), () => {});
	const { ask, thread, threads, host } = served(
		oneAgent(scripted(["Hello.", "Again."]), { effects: { nightly } }),
	);
	const id = await thread({ agent_id: "helper", user_id: "ann", tags: ["a"] });
	const path = `/api/threads/${id}`;
	expect((await ask("PATCH", path, { tags: ["b"] })).body).toMatchObject({ user_id: "ann", tags: ["b"] });
	expect((await ask("PATCH", path, { user_id: null })).body).toMatchObject({ user_id: null, tags: ["b"] });
	expect((await ask("PATCH", path, { agent_id: "other" })).status).toBe(400);
	await ask("POST", `${path}/messages`, { content: "Hi" });
	await threads.quiet();
	const state = await threads.get(id);
	await state?.writeFile("a.txt", "a");
	await state?.setValue("k", 1);
	await state?.scheduleEffect("nightly", {}, 1_000_000);
	await state?.removeScheduledEffect((await state?.scheduleEffect("nightly", {}, 1_000_000)) ?? "");
	await ask("POST", `${path}/messages`, { content: "Once" }, { "idempotency-key": "k" });
	await threads.quiet();
	expect((await ask("DELETE", path)).body).toEqual({ id, deleted: true });
	for (const [method, rest] of [
		["GET", ""],
		["DELETE", ""],
		["PATCH", ""],
		["GET", "/messages"],
		["GET", "/fs/a.txt"],
		["GET", "/kv"],
		["GET", "/effects"],
		["GET", "/stream"],
		["POST", "/stop"],
	] as const) {
		const answer = await ask(method, `${path}${rest}`, method === "PATCH" ? {} : undefined);
		expect([answer.status, answer.body.code], `${method} ${rest}`).toEqual([404, "thread_not_found"]);
	}
	expect(await host.timers?.nextDue()).toBeUndefined();
	const storeKey = threads.storeKeyOf(id);
	expect(await host.files?.of(storeKey, "thread-files").list()).toEqual([]);
	expect(await host.values.values(storeKey, "thread-values").list()).toEqual([]);
	expect(await host.journal.head(storeKey)).toBeUndefined();
	expect(await threads.effects(id).all()).toEqual([]);
	for (const shelf of ["effects", "requests", "calls"])
		expect(await host.records?.list(`thread-${shelf} ${storeKey}`), shelf).toEqual([]);
});

test("a message is queued before any model has answered, and shown as queued or stored [SA-202]", async () => {
	const { gate, open } = gated();
	const { ask, thread, threads } = served(oneAgent(scripted([{ text: "Hello.", gate }, "Again."])));
	const id = await thread();
	const path = `/api/threads/${id}/messages`;
	const first = await ask("POST", path, { content: "Hi", metadata: { from: "web" } });
	expect([first.status, first.body.role, first.body.content]).toEqual([202, "user", "Hi"]);
	const second = await ask("POST", path, { content: "More" });
	expect(second.status).toBe(202);
	const listed = (await ask("GET", path)).body.messages as { id: string }[];
	expect(listed.map((message) => message.id)).toEqual([first.body.id, second.body.id]);
	open();
	await threads.quiet();
	expect((await ask("GET", `${path}?order=desc&limit=1`)).body).toMatchObject({
		messages: [{ role: "assistant" }],
		hasMore: true,
	});
	for (const body of [
		{},
		{ content: "" },
		{ content: 1 },
		{ content: "x", role: "tool" },
		{ content: "x", more: 1 },
	])
		expect((await ask("POST", path, body)).status).toBe(400);
});

test("a message is changed and removed as by tools, and only in its thread [SA-203]", async () => {
	const add = defineTool({
		description: "Adds.",
		args: z.object({}),
		execute: async () => ({ status: "success", result: "3" }),
	});
	const { ask, thread, threads } = served(
		oneAgent(scripted([{ calls: [{ name: "add" }] }, "Three."]), { tools: { add } }),
		{ routes: { clientsMaySet: ["history"] } },
	);
	const [id, other] = [await thread(), await thread()];
	const path = `/api/threads/${id}/messages`;
	const { body } = await ask("POST", path, { content: "Hi" });
	await threads.quiet();
	const updated = await ask("PATCH", `${path}/${body.id}`, { content: "Hello", metadata: { a: 1 } });
	expect(updated.body).toMatchObject({ id: body.id, content: "Hello", metadata: { a: 1 } });
	const calling = (
		(await ask("GET", path)).body.messages as { id: string; tool_calls: string | null }[]
	).find(({ tool_calls }) => tool_calls !== null);
	for (const method of ["PATCH", "DELETE"]) {
		const elsewhere = `/api/threads/${other}/messages/${body.id}`;
		const answer = await ask(method, elsewhere, method === "PATCH" ? { content: "x" } : undefined);
		expect([answer.status, answer.body.code]).toEqual([404, "message_not_found"]);
	}
	expect((await ask("DELETE", `${path}/${calling?.id}`)).body).toEqual({ id: calling?.id, deleted: true });
	expect((await ask("DELETE", `${path}/${calling?.id}`)).status).toBe(404);
	const left = (await ask("GET", path)).body.messages as { content: string }[];
	expect(left.map(({ content }) => content)).toEqual(["Hello", "Three."]);
});

test("stop aborts the current call and leaves the thread idle; continue continues from the stored data [SA-205]", async () => {
	const provider = scripted([{ text: "never", gate: new Promise(() => {}) }, "Now."]);
	const { ask, thread, threads, host } = served(oneAgent(provider));
	const id = await thread();
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await expect.poll(() => provider.requests.length).toBe(1);
	expect((await ask("POST", `/api/threads/${id}/stop`)).body).toEqual({ id, stopped: true });
	await threads.quiet();
	expect(provider.requests[0]?.signal?.aborted).toBe(true);
	expect(provider.requests).toHaveLength(1);
	expect(await host.journal.head(threads.storeKeyOf(id))).toMatchObject({ waiting: 0 });
	expect((await host.journal.head(threads.storeKeyOf(id)))?.openRunId).toBeUndefined();
	expect((await ask("POST", `/api/threads/${id}/stop`)).body).toEqual({ id, stopped: false });
	expect((await ask("POST", `/api/threads/${id}/continue`)).body).toEqual({ id, continued: true });
	await threads.quiet();
	expect(provider.requests[1]?.messages).toEqual([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Hi" },
	]);
	const { messages } = (await ask("GET", `/api/threads/${id}/messages`)).body;
	expect(messages.map(({ content }: { content: string }) => content)).toEqual(["Hi", "Now."]);
});

test("files are read, written and removed with their type; missing ones and paths with `..` are rejected [SA-206]", async () => {
	const { ask, thread } = served(oneAgent(scripted([])), { routes: { maxFileBytes: 3_000_000 } });
	const id = await thread();
	const fs = `/api/threads/${id}/fs`;
	const bytes = new Uint8Array(2_500_000).map((_, at) => at % 253);
	const written = await ask("PUT", `${fs}/a%20b/c.bin`, bytes, { "content-type": "image/x-own" });
	expect([written.status, written.body]).toEqual([
		201,
		expect.objectContaining({ path: "/a b/c.bin", size: 2_500_000, mimeType: "image/x-own" }),
	]);
	const { response } = await ask("GET", `${fs}/a%20b/c.bin`);
	expect(response.headers.get("content-type")).toBe("image/x-own");
	expect(Buffer.compare(new Uint8Array(await response.arrayBuffer()), bytes)).toBe(0);
	expect((await ask("HEAD", `${fs}/a%20b/c.bin`)).response.headers.get("content-length")).toBe("2500000");
	expect((await ask("GET", `${fs}/a%20b`)).body.entries).toMatchObject([{ path: "/a b/c.bin" }]);
	expect((await ask("GET", `${fs}/`)).body.entries).toMatchObject([{ path: "/a b", isDirectory: true }]);
	expect((await ask("GET", `${fs}/a%20b/c.bin?stat=1`)).body).toMatchObject({ size: 2_500_000 });
	expect((await ask("GET", `${fs}/a%20b/c.bin?thumbnail=1`)).status).toBe(404);
	for (const method of ["GET", "DELETE"]) expect((await ask(method, `${fs}/none.txt`)).status).toBe(404);
	for (const path of ["..%2f..%2fetc%2fpasswd", "a/..%2f..%2fb", "%2e%2e%2f%2e%2e", "%ZZ"])
		for (const method of ["GET", "PUT", "DELETE"]) {
			const answer = await ask(method, `${fs}/${path}`, method === "PUT" ? "x" : undefined);
			expect([answer.status, answer.body.code], `${method} ${path}`).toEqual([400, "invalid_path"]);
		}
	expect((await ask("PUT", `${fs}/large.bin`, new Uint8Array(3_000_001))).status).toBe(413);
	expect((await ask("GET", `${fs}/large.bin`)).status).toBe(404);
	expect((await ask("DELETE", `${fs}/a%20b`)).body.code).toBe("folder_not_empty");
	expect((await ask("DELETE", `${fs}/a%20b/c.bin`)).body).toEqual({ path: "/a b/c.bin", deleted: true });
	expect((await ask("DELETE", `${fs}/a%20b`)).status).toBe(200);
});

test("effects are listed, cancelled and run on request, once; values, calls and sub-agents are shown [SA-207]", async () => {
	const ran: unknown[] = [];
	const note = defineEffect(
		"Notes.",
		z.object({ n: z.number() }),
		(state, { n }) => void ran.push([n, state.execution]),
	);
	const { ask, thread, threads } = served(oneAgent(scripted(["Hello.", "Again."]), { effects: { note } }));
	const id = await thread();
	const path = `/api/threads/${id}`;
	const state = await threads.get(id);
	const [one, two] = [
		await state?.scheduleEffect("note", { n: 1 }, 1_000_000),
		await state?.scheduleEffect("note", { n: 2 }, 2_000_000),
	];
	const listed = async () =>
		(
			(await ask("GET", `${path}/effects`)).body.effects as { id: string; status: string; args: object }[]
		).map((effect) => [effect.id, effect.status, effect.args]);
	expect(await listed()).toEqual([
		[one, "pending", { n: 1 }],
		[two, "pending", { n: 2 }],
	]);
	expect((await ask("POST", `${path}/effects/${two}/cancel`)).body).toEqual({ id: two, canceled: true });
	expect((await ask("POST", `${path}/effects/${two}/cancel`)).status).toBe(404);
	await Promise.all([ask("POST", `${path}/effects/${one}/run`), ask("POST", `${path}/effects/${one}/run`)]);
	await expect.poll(() => ran).toEqual([[1, null]]);
	await expect.poll(listed).toEqual([
		[one, "completed", { n: 1 }],
		[two, "canceled", { n: 2 }],
	]);
	expect((await ask("POST", `${path}/effects/${one}/run`)).status).toBe(404);
	expect((await ask("POST", `${path}/effects/none/run`)).body.code).toBe("effect_not_found");
	await state?.setValue("k", { a: [1, null] });
	expect((await ask("GET", `${path}/kv`)).body).toEqual({ values: { k: { a: [1, null] } } });
	for (const content of ["Hi", "More"]) {
		await ask("POST", `${path}/messages`, { content });
		await threads.quiet();
	}
	const { logs } = (await ask("GET", `${path}/logs`)).body;
	expect(logs).toEqual([
		expect.objectContaining({ model: "main", prompt: "help", inputTokens: 3, outputTokens: 2 }),
		expect.objectContaining({ model: "main", prompt: "help", inputTokens: 3, outputTokens: 2 }),
	]);
	expect((await ask("GET", `${path}/subagents`)).body).toEqual({ subagents: [] });
	expect(ran).toHaveLength(1);
});

test("sub-agents of a thread are shown as in its registry [SA-207]", async () => {
	const provider = scripted(({ messages }) =>
		messages.at(-1)?.content === "Hi"
			? { calls: [{ name: "subagent_create", args: { name: "Digger" } }] }
			: "Made.",
	);
	const resumable = { receives_messages: "side_a" as const };
	const { ask, thread, threads } = served(
		oneAgent(provider, {
			prompt: { tools: [{ name: "worker", resumable }] },
			agents: [defineAgent({ name: "worker", sideA: { prompt: "help" } })],
		}),
	);
	const path = `/api/threads/${await thread()}`;
	await ask("POST", `${path}/messages`, { content: "Hi" });
	await threads.quiet();
	const { subagents } = (await ask("GET", `${path}/subagents`)).body;
	expect(subagents).toEqual([
		expect.objectContaining({ name: "worker", threadName: "Digger", status: "idle", resumable: true }),
	]);
	const child = (await ask("GET", `/api/threads/${subagents[0].reference}`)).body;
	expect(`/api/threads/${child.parent_id}`).toBe(path);
	expect((await ask("GET", `/api/threads/${child.id}/subagents`)).body).toEqual({ subagents: [] });
});

test("the cost is the sum of all calls, including those of prompts and fallbacks, at their prices per million [SA-208]", async () => {
	const priced =
		(tokens: number, error?: Error): ProviderFactoryWithOptions =>
		() => ({
			name: "priced",
			specificationVersion: "1",
			async generate() {
				if (error !== undefined) throw error;
				return {
					content: "Said.",
					finishReason: "stop",
					usage: { promptTokens: tokens, completionTokens: 0, totalTokens: tokens },
				};
			},
			async *stream() {
				if (error !== undefined) throw error;
				yield { type: "content-delta", delta: "Said." };
				yield {
					type: "finish",
					finishReason: "stop",
					usage: { promptTokens: tokens, completionTokens: 0, totalTokens: tokens },
				};
			},
		});
	const { defineModel, ProviderError } = await import("../define/index.ts");
	const provider = scripted([{ calls: [{ name: "ask", args: { message: "?" } }] }, "Done."]);
	const project = oneAgent(provider, {
		prompt: { tools: ["ask"] },
		model: { inputPrice: 1_000_000, outputPrice: 500_000 },
		prompts: [
			definePrompt({
				name: "ask",
				toolDescription: "Asks.",
				prompt: "Answer.",
				model: "broken",
				requiredSchema: z.object({ message: z.string() }),
			}) as PromptDefinition,
		],
		models: [
			defineModel({
				name: "broken",
				provider: priced(0, new ProviderError("Too much to do.", "rate_limit")),
				model: "b",
				inputPrice: 1,
				outputPrice: 1,
				fallbacks: ["dear"],
			}),
			defineModel({ name: "dear", provider: priced(250_000), model: "d", inputPrice: 4, outputPrice: 8 }),
		],
	});
	const { ask, thread, threads } = served(project);
	const id = await thread();
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await threads.quiet();
	const { logs } = (await ask("GET", `/api/threads/${id}/logs`)).body as {
		logs: { model: string; cost?: number }[];
	};
	// Calls of one moment have no order.
	const named = (entries: readonly { model: string; cost?: number }[]): string[] =>
		entries.map(({ model, cost }) => `${model} ${cost}`).sort();
	expect(named(logs)).toEqual(["broken undefined", "dear 1", "main 4", "main 4"]);
	expect((await ask("GET", `/api/threads/${id}/cost`)).body).toEqual({
		cost: 9,
		calls: 4,
		unpriced: 1,
		inputTokens: 250_006,
		outputTokens: 4,
	});
});

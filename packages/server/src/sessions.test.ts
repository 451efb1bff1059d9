// The routes over the real service: what document 3 asks of HTTP.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { tool } from "holdfast";
import { foldHistory } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/shared/temporary-folder.fixture.ts";
import { everyField } from "./every-field.fixture.ts";
import type { Route } from "./http/route.ts";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { refusal } from "./setup.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

function serve(script: Parameters<typeof serveScript>[0], options?: ServedOptions): Served {
	const { serving, ...rest } = options ?? {};
	const served = serveScript(script, { ...rest, serving: { clientsMaySet: everyField, ...serving } });
	open.push(served);
	return served;
}

const remote = { name: "ask_user", description: "Asks.", parameters: { type: "object" } };
const askUser = { toolCalls: [{ name: "ask_user", arguments: { question: "Which?" } }] };
const types = (events: readonly { readonly event: { readonly type: string } }[]): readonly string[] =>
	events.map(({ event }) => event.type);

test("a session starts under the client's id, and a POST without context continues its history [API-063]", async () => {
	const { run, session, model } = serve(["One.", "Two."]);
	const first = await run({ sessionId: "mine", input: say("one"), context: {} });
	expect(first[0]?.event).toEqual({ type: "session_start", sessionId: "mine" });
	await run({ sessionId: "mine", input: say("two") });
	expect((await session("mine")).messages.map(({ role }) => role)).toEqual([
		"user",
		"assistant",
		"user",
		"assistant",
	]);
	expect(model.requests[1]?.messages).toHaveLength(3);
});

test("an unknown session without context is rejected and not created [API-064]", async () => {
	const { post, get } = serve(["One."]);
	const response = await post("/api/agent/execute", { sessionId: "none", input: say("one") });
	expect(response.status).toBe(400);
	expect(response.headers.get("content-type")).toContain("application/json");
	expect(await response.json()).toEqual({
		error: "Context required for new session",
		code: "context_required",
	});
	expect((await get("/api/agent/session/none")).status).toBe(404);
});

test("an unknown session cannot be read, followed or stopped [API-069]", async () => {
	const { run, get, post } = serve(["One."]);
	await run({ sessionId: "another", input: say("one"), context: {} });
	for (const response of [
		await get("/api/agent/session/none"),
		await get("/api/agent/session/none/events"),
		await get("/api/agent/session/none/events?follow=1"),
		await post("/api/agent/session/none/stop"),
	]) {
		expect(response.status).toBe(404);
		expect(await response.json()).toEqual({ error: "Session not found", code: "session_not_found" });
	}
});

test("a context for an existing session changes nothing of it [API-065]", async () => {
	const { run, model, session } = serve(["One.", "Two."]);
	await run({ sessionId: "s", input: say("one"), context: { systemPrompt: "Be kind.", tools: [remote] } });
	await run({
		sessionId: "s",
		input: say("two"),
		context: { systemPrompt: "Be rude.", tools: [], messages: [say("injected")] },
	});
	expect(model.requests.map(({ system }) => system)).toEqual(["Be kind.", "Be kind."]);
	expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(["ask_user"]);
	expect(JSON.stringify((await session("s")).messages)).not.toContain("injected");
});

test("records have increasing ids and data on one line, and line ends in text are kept [API-066]", async () => {
	const said = "First\nsecond\r\n\r\ndata: third\n\nid: 9\u2028fourth";
	const { post } = serve([{ text: said, deltas: 20 }, "Again."]);
	const streamOf = async (body: object): Promise<string> =>
		(await post("/api/agent/execute", { sessionId: "s", input: say("go"), ...body })).text();
	const text = (await streamOf({ context: {} })) + (await streamOf({}));
	const records = text.split("\n\n").slice(0, -1);
	for (const record of records) expect(record).toMatch(/^id: [\d.]+\ndata: \{[^\n\r]*\}$/);
	const ids = records.map((record) => record.slice(4, record.indexOf("\n")).split(".").map(Number));
	for (const [at, id] of ids.entries()) {
		const before = ids[at - 1];
		if (before === undefined) continue;
		const difference = id.map((part, place) => part - (before[place] ?? 0)).find((each) => each !== 0) ?? 0;
		expect(difference).toBeGreaterThan(0);
	}
	const deltas = records
		.map((record) => JSON.parse(record.slice(record.indexOf("data: ") + 6)))
		.filter(({ type }) => type === "text_delta");
	expect(deltas.map(({ delta }) => delta).join("")).toBe(`${said}Again.`);
});

test("the last record of every stream is one execute_complete, with the waiting calls; history has none [API-067]", async () => {
	const { run, get, session } = serve([askUser, "Blue it is."]);
	const first = await run({ sessionId: "s", input: say("Paint."), context: { tools: [remote] } });
	const suspended = first.at(-1)?.event;
	expect(suspended).toMatchObject({ type: "execute_complete", status: "awaiting_tool_execution" });
	expect(suspended?.pendingToolCalls).toEqual((await session("s")).pendingToolCalls);
	const again = await readSse(await get("/api/agent/session/s/events")).rest();
	expect(again).toEqual(first);
	const id = (await session("s")).pendingToolCalls?.[0]?.id;
	const second = await run({ sessionId: "s", input: [{ role: "tool", toolCallId: id, output: "blue" }] });
	expect(second.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	for (const events of [first, second])
		expect(types(events).filter((type) => type === "execute_complete")).toHaveLength(1);
	const all = await readSse(await get("/api/agent/session/s/events")).rest();
	expect(all).toEqual([...first, ...second]);
	expect(JSON.stringify((await session("s")).messages)).not.toContain("execute_complete");
});

test("a session is returned whole, without keys or code [API-068]", async () => {
	const secret = tool({
		name: "spend",
		description: "Spends.",
		parameters: { type: "object", properties: {} },
		run: () => "sk-secret-inside".slice(0, 2),
	});
	const { run, session } = serve([{ toolCalls: [{ name: "spend" }] }, "Spent."], {
		tools: [secret],
		apiKeys: { "sk-of-the-tenant": "a" },
	});
	const headers = { authorization: "Bearer sk-of-the-tenant" };
	const events = await run({ sessionId: "s", input: say("Spend."), context: {} }, headers);
	const found = await session("s", headers);
	expect(found).toMatchObject({ sessionId: "s", status: "completed", totalCost: 0 });
	expect(found.lastEventId).toBe(events.at(-1)?.id);
	expect(found.messages).toHaveLength(4);
	for (const word of ["sk-of-the-tenant", "sk-secret", "run:", "=>"])
		expect(JSON.stringify(found)).not.toContain(word);
});

test("an invalid input is rejected as JSON that names the field, before any stream or model call [API-070]", async () => {
	const { post, handler, model } = serve(["never"]);
	for (const [body, field] of [
		[{ context: {} }, "input"],
		[{ input: [], context: {} }, "input"],
		[{ input: 7, context: {} }, "input"],
		[{ input: { role: "assistant", content: "x" }, context: {} }, "input.role"],
		[{ input: { role: "user", content: "" }, context: {} }, "input.content"],
		[{ input: { role: "user", content: [{ type: "odd" }] }, context: {} }, "input.content[0]"],
		[{ input: [{ role: "tool", output: "x" }], sessionId: "s" }, "input[0].toolCallId"],
	] as const) {
		const response = await post("/api/agent/execute", body);
		expect([field, response.status]).toEqual([field, 400]);
		expect(response.headers.get("content-type")).toContain("application/json");
		const { error, code } = (await response.json()) as { error: string; code: string };
		expect(code).toBe("invalid_input");
		expect(error).toContain(field);
	}
	const malformed = new Request("http://localhost/api/agent/execute", {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: '{"input": ',
	});
	expect(await refusal(await handler.fetch(malformed))).toEqual([400, "invalid_json"]);
	expect(model.requests).toHaveLength(0);
});

test("a model that is not offered, and options that belong to the server, are rejected [API-072]", async () => {
	const { post, model } = serve(["never"]);
	const send = (options: unknown): Promise<Response> =>
		post("/api/agent/execute", { input: say("x"), context: {}, options });
	expect(await refusal(await send({ model: "gpt-9" }))).toEqual([400, "unknown_model"]);
	for (const options of [
		{ baseURL: "http://evil.example" },
		{ apiKey: "sk-x" },
		{ headers: { authorization: "x" } },
		{ model: "scripted", baseUrl: "http://evil.example" },
	])
		expect(await refusal(await send(options))).toEqual([400, "forbidden_option"]);
	expect(model.requests).toHaveLength(0);
});

test("a client's tool is remote, whatever it declares, and cannot have the name of one of the server's [API-073]", async () => {
	const own = tool({ name: "own", description: "Ours.", parameters: { type: "object" }, run: () => "ours" });
	const { run, post } = serve([askUser], { tools: [own] });
	const events = await run({
		sessionId: "s",
		input: say("x"),
		context: { tools: [{ ...remote, execute: "() => process.exit()", run: "x" }] },
	});
	expect(events.at(-1)?.event.status).toBe("awaiting_tool_execution");
	const taken = await post("/api/agent/execute", {
		input: say("x"),
		context: { tools: [{ ...remote, name: "own" }] },
	});
	expect(await refusal(taken)).toEqual([400, "tool_name_conflict"]);
});

test("after a cut in the middle of a message the rest follows, and both together equal an uncut stream [API-074]", async () => {
	let go = (): void => {};
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	const { begin, get } = serve(
		[
			{ text: "word ".repeat(50), toolCalls: [{ name: "look" }] },
			{ text: "more ".repeat(50), gate },
		],
		{
			tools: [
				tool({ name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" }),
			],
		},
	);
	const uncut = await begin({ sessionId: "s", input: say("Talk."), context: {} });
	const whole = [];
	for (let at = 0; at < 10; at++) whole.push(await uncut.next());
	for (const cutAt of [0, 3, 9]) {
		const later = readSse(
			await get("/api/agent/session/s/events", { "last-event-id": whole[cutAt]?.id as string }),
		);
		if (cutAt < 9) expect(await later.next()).toEqual(whole[cutAt + 1]);
		await later.close();
	}
	const cut = readSse(await get("/api/agent/session/s/events", { "last-event-id": whole[4]?.id as string }));
	go();
	whole.push(...(await uncut.rest()));
	expect(await cut.rest()).toEqual(whole.slice(5));
	for (const [at, event] of whole.entries()) {
		const rest = await readSse(await get(`/api/agent/session/s/events?after=${event?.id}`)).rest();
		expect(rest).toEqual(whole.slice(at + 1));
	}
});

test("the events of a damaged session are refused with its code, without keys of the store", async () => {
	const path = join(temporaryFolder(), "sessions.db");
	const host = sqliteHost(path);
	const { run, get } = serve(["One.", "Two."], { host });
	const events = await run({ sessionId: "s", input: say("one"), context: {} });
	await run({ sessionId: "t", input: say("two"), context: {} });
	const database = new DatabaseSync(path);
	database.exec("UPDATE entries SET body = '{' WHERE kind = 'assistant' AND session = 1");
	database.close();
	for (const address of ["events", "events?follow=1", `events?after=${events[0]?.id}`]) {
		const response = await get(`/api/agent/session/s/${address}`);
		const { code, error } = (await response.json()) as { code: string; error: string };
		expect([response.status, code], address).toEqual([500, "journal_corrupt"]);
		expect(error).toMatch(/^The stored data cannot be read/);
	}
	expect((await get("/api/agent/session/t/events")).status).toBe(200);
	await host.close();
});

test("an id before the stored events gets 410, an invalid one 400, and nothing is skipped [API-077]", async () => {
	const { run, get, host } = serve(["One.", "Two.", "Three."]);
	const first = await run({ sessionId: "s", input: say("one"), context: {} });
	await run({ sessionId: "s", input: say("two") });
	const [head] = await host.journal.list();
	await until("the past is folded", () =>
		foldHistory(host.journal, head?.key as string, { before: Date.now() + 1_000 }).then(
			(folded) => folded !== undefined,
			() => false,
		),
	);
	const third = await run({ sessionId: "s", input: say("three") });
	const from = (id: string): Promise<Response> => get(`/api/agent/session/s/events?after=${id}`);
	expect(await refusal(await from(first[2]?.id as string))).toEqual([410, "events_expired"]);
	for (const none of ["x", "1", "1.2", "1.2.3.4.5", "-1.0.0", "999999.0.0"])
		expect([none, ...(await refusal(await from(none)))]).toEqual([none, 400, "invalid_event_id"]);
	expect(await readSse(await from(third[1]?.id as string)).rest()).toEqual(third.slice(2));
});

test("a run continues when its connection is closed [API-078]", async () => {
	let go = (): void => {};
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	let ran = 0;
	const look = tool({
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		run: () => ++ran,
	});
	const { begin, session } = serve([{ toolCalls: [{ name: "look" }], gate }, "All seen."], { tools: [look] });
	const watcher = await begin({ sessionId: "s", input: say("Look."), context: {} });
	await watcher.next();
	await watcher.close();
	go();
	await until("the run has completed", async () => (await session("s")).status === "completed");
	expect(ran).toBe(1);
	expect((await session("s")).messages.at(-1)).toMatchObject({
		role: "assistant",
		content: [{ type: "text", text: "All seen." }],
	});
});

test("stop aborts the run, which records it; again, or with nothing to stop, it does nothing [API-079]", async () => {
	const { begin, post, session } = serve([{ text: "word ".repeat(10), gate: new Promise(() => {}) }]);
	const watcher = await begin({ sessionId: "s", input: say("Talk."), context: {} });
	await watcher.next();
	const stop = async (): Promise<unknown> => {
		const response = await post("/api/agent/session/s/stop");
		expect(response.status).toBe(200);
		return response.json();
	};
	expect(await stop()).toEqual({ sessionId: "s", stopped: true });
	const rest = await watcher.rest();
	expect(rest.at(-1)?.event).toMatchObject({ type: "execute_complete", status: "aborted" });
	expect((await session("s")).messages.at(-1)).toMatchObject({ role: "aborted" });
	const before = await session("s");
	for (let at = 0; at < 2; at++) expect(await stop()).toEqual({ sessionId: "s", stopped: false });
	expect(await session("s")).toEqual(before);
});

test("answers that a session does not await are a conflict, and change nothing [API-034, API-035]", async () => {
	const { run, post, session, model } = serve([askUser, "Blue it is."]);
	const conflicts = async (input: unknown, code: string): Promise<void> => {
		const before = await session("s");
		expect(await refusal(await post("/api/agent/execute", { sessionId: "s", input }))).toEqual([409, code]);
		expect(await session("s")).toEqual(before);
	};
	await run({ sessionId: "s", input: say("Paint."), context: { tools: [remote] } });
	await conflicts(say("Hello?"), "pending_tool_calls");
	const [call] = (await session("s")).pendingToolCalls ?? [];
	const answer = [{ role: "tool", toolCallId: call?.id, output: "blue" }];
	await run({ sessionId: "s", input: answer });
	await conflicts(answer, "no_pending_tool_calls");
	expect(model.requests).toHaveLength(2);
});

test("an expired call fails, the server resumes the run and logs the failure, and a late result is a conflict [API-052, API-053, API-054]", async () => {
	const { run, post, get, session } = serve([askUser, "Never mind."], {
		serving: { remoteToolTimeoutMs: 20 },
	});
	const events = await run({ sessionId: "s", input: say("Paint."), context: { tools: [remote] } });
	const [call] = (events.at(-1)?.event.pendingToolCalls ?? []) as { id: string }[];
	await until("the session has continued", async () => (await session("s")).status === "completed");
	const rest = await readSse(await get(`/api/agent/session/s/events?after=${events.at(-1)?.id}`)).rest();
	const messages = rest.flatMap(({ event }) => (event.type === "message_end" ? [event.message] : []));
	expect(messages).toMatchObject([
		{
			role: "tool",
			toolCallId: call?.id,
			isError: true,
			output: 'No result of "ask_user" arrived within 20 ms.',
		},
		{ role: "assistant", content: [{ type: "text", text: "Never mind." }] },
	]);
	expect(rest.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	const before = await session("s");
	const late = { sessionId: "s", input: [{ role: "tool", toolCallId: call?.id, output: "blue" }] };
	expect(await refusal(await post("/api/agent/execute", late))).toEqual([409, "tool_result_expired"]);
	expect(await session("s")).toEqual(before);
});

test("stopping a waiting session settles its calls, and a message is accepted [API-080]", async () => {
	const { run, post, session } = serve([askUser, "Never mind."]);
	await run({ sessionId: "s", input: say("Paint."), context: { tools: [remote] } });
	expect(await (await post("/api/agent/session/s/stop")).json()).toEqual({ sessionId: "s", stopped: true });
	const stopped = await session("s");
	expect(stopped.pendingToolCalls).toBeUndefined();
	expect(stopped.messages.find(({ role }) => role === "tool")).toMatchObject({ isError: true });
	const next = await run({ sessionId: "s", input: say("Continue.") });
	expect(next.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
});

test("of two simultaneous POSTs one streams and the other is rejected; the history contains only the first [API-081]", async () => {
	const { run, post, session } = serve(["Before.", { text: "Only one." }], {
		serving: { whileRunning: "refuse" },
	});
	await run({ sessionId: "s", input: say("zero"), context: {} });
	const both = await Promise.all(
		["one", "two"].map((text) => post("/api/agent/execute", { sessionId: "s", input: say(text) })),
	);
	expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
	const refused = both.find(({ status }) => status === 409) as Response;
	expect((await refused.json()).code).toBe("session_busy");
	await readSse(both.find(({ status }) => status === 200) as Response).rest();
	const accepted = both[0]?.status === 200 ? "one" : "two";
	expect((await session("s")).messages.slice(2)).toMatchObject([
		{ role: "user", content: accepted },
		{ role: "assistant" },
	]);
});

test("the same idempotency key attaches to the first execution, while it runs and after its end [API-082]", async () => {
	let go = (): void => {};
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	const { begin, run, post, model, session } = serve([{ text: "Once.", gate }]);
	const body = { sessionId: "s", input: say("Pay."), context: {} };
	const key = { "idempotency-key": "pay-7" };
	const first = await begin(body, key);
	const second = await begin(body, key);
	go();
	const events = await first.rest();
	expect(await second.rest()).toEqual(events);
	expect(await run(body, key)).toEqual(events);
	expect(model.requests).toHaveLength(1);
	expect((await session("s")).messages).toHaveLength(2);
	const other = await post("/api/agent/execute", { ...body, input: say("Pay more.") }, key);
	expect(await refusal(other)).toEqual([409, "idempotency_key_reused"]);
});

test("without a session id a repeated key finds its session", async () => {
	const { post, model } = serve(["Once."]);
	const body = { input: say("Pay."), context: {} };
	const key = { "idempotency-key": "pay-8" };
	const first = await post("/api/agent/execute", body, key);
	const events = await readSse(first).rest();
	const second = await post("/api/agent/execute", body, key);
	expect(second.headers.get("x-session-id")).toBe(first.headers.get("x-session-id"));
	expect(await readSse(second).rest()).toEqual(events);
	expect(model.requests).toHaveLength(1);
});

test("an approval is granted or denied by its own routes", async () => {
	let ran = 0;
	const pay = tool({
		name: "pay",
		description: "Pays.",
		parameters: { type: "object" },
		needsApproval: true,
		run: () => ++ran,
	} as Parameters<typeof tool>[0]);
	const { run, post, session } = serve(
		[{ toolCalls: [{ name: "pay" }] }, "Paid.", { toolCalls: [{ name: "pay" }] }, "Not paid."],
		{ tools: [pay] },
	);
	for (const [route, count] of [
		["approve", 1],
		["deny", 1],
	] as const) {
		await run({ sessionId: "s", input: say("Pay."), context: {} });
		const [call] = (await session("s")).pendingToolCalls ?? [];
		const answered = await post(`/api/agent/session/s/${route}`, { toolCallId: call?.id });
		expect((await readSse(answered).rest()).at(-1)?.event.status).toBe("completed");
		expect(ran).toBe(count);
	}
});

test("a tenant sees nothing of another's session, and cannot answer its calls even with their ids [API-085]", async () => {
	const { run, post, get, session, model } = serve([askUser, "Blue."], {
		apiKeys: { "key-a": "a", "key-b": "b" },
	});
	const a = { "x-api-key": "key-a" };
	const b = { "x-api-key": "key-b" };
	await run({ sessionId: "s", input: say("Paint."), context: { tools: [remote] } }, a);
	const before = await session("s", a);
	const toolCallId = before.pendingToolCalls?.[0]?.id;
	for (const response of [
		await get("/api/agent/session/s", b),
		await get("/api/agent/session/s/events", b),
		await get(`/api/agent/session/s/events?after=${before.lastEventId}&follow=1`, b),
		await post("/api/agent/session/s/stop", undefined, b),
		await post("/api/agent/session/s/approve", { toolCallId }, b),
	])
		expect(await refusal(response)).toEqual([404, "session_not_found"]);
	const input = [{ role: "tool", toolCallId, output: "red" }];
	for (const context of [undefined, {}])
		expect((await post("/api/agent/execute", { sessionId: "s", input, context }, b)).status).toBe(400);
	expect(await session("s", a)).toEqual(before);
	expect(model.requests).toHaveLength(1);
	const own = await run({ sessionId: "s", input }, a);
	expect(own.at(-1)?.event.status).toBe("completed");
});

test("a session is removed with its work: its streams end, it is not found, and its id starts again", async () => {
	const never = new Promise<void>(() => {});
	const { run, begin, get, session, handler } = serve(["One.", { text: "Two.", gate: never }, "Three."], {
		apiKeys: { "key-a": "a", "key-b": "b" },
	});
	const remove = (headers: Record<string, string>): Promise<Response> =>
		handler.fetch(new Request("http://localhost/api/agent/session/s", { method: "DELETE", headers }));
	const [a, b] = [{ "x-api-key": "key-a" }, { "x-api-key": "key-b" }];
	await run({ sessionId: "s", input: say("one"), context: {} }, a);
	expect(await refusal(await remove(b))).toEqual([404, "session_not_found"]);
	const reader = await begin({ sessionId: "s", input: say("two") }, a);
	const watcher = readSse(await get("/api/agent/session/s/events?follow=1", a));
	await watcher.next();
	const removed = await remove(a);
	expect([removed.status, await removed.json()]).toEqual([200, { sessionId: "s", deleted: true }]);
	for (const stream of [reader, watcher]) {
		const [{ event } = { event: undefined }] = (await stream.rest()).slice(-1);
		// A reader that comes before it is gone learns how it ended.
		if (event?.type === "execute_complete" && event.status !== "completed")
			expect(event).toMatchObject({ status: "error", error: { code: "session_killed" } });
	}
	for (const response of [await get("/api/agent/session/s", a), await remove(a)])
		expect(await refusal(response)).toEqual([404, "session_not_found"]);
	const again = await run({ sessionId: "s", input: say("three"), context: {} }, a);
	expect(again.at(-1)?.event.status).toBe("completed");
	expect((await session("s", a)).messages).toHaveLength(2);
});

test("a tenant over its run limit is rejected before any model call, and others are not [API-061]", async () => {
	const never = new Promise(() => {});
	const { begin, post, model } = serve(() => ({ text: "x", gate: never }), {
		apiKeys: { "key-a": "a", "key-b": "b" },
		maxConcurrentRuns: 1,
	});
	const a = { "x-api-key": "key-a" };
	await (await begin({ sessionId: "1", input: say("x"), context: {} }, a)).next();
	await until("the model was asked", () => model.requests.length === 1);
	const refused = await post("/api/agent/execute", { sessionId: "2", input: say("x"), context: {} }, a);
	expect(refused.headers.get("retry-after")).toBe("1");
	expect(await refusal(refused)).toEqual([429, "rate_limited"]);
	expect(model.requests).toHaveLength(1);
	await (await begin({ sessionId: "2", input: say("x"), context: {} }, { "x-api-key": "key-b" })).next();
	await until("the other tenant's model was asked", () => model.requests.length === 2);
});

test("a custom route streams a run in its own format, at the reader's pace, to its end", async () => {
	const shout: Route = {
		method: "POST",
		path: "/shout/:id",
		name: "shout",
		summary: "Streams the text in capitals.",
		answers: { 200: { description: "Text." } },
		async handle(exchange) {
			const { text } = await exchange.readJson();
			const sessionId = exchange.parameter("id") ?? "";
			const { after } = await exchange.submit(sessionId, { input: text, context: {} }, undefined);
			return exchange.streamAs({
				sessionId,
				after,
				until: "complete",
				headers: { "x-shape": "loud" },
				write: (events) =>
					events
						.map(({ event }) => (event.type === "text_delta" ? `data: ${event.delta.toUpperCase()}\n\n` : ""))
						.join(""),
				finish: () => "data: [DONE]\n\n",
			});
		},
	};
	const { post, service } = serve(["so it is", "and again"], { routes: [shout] });
	const response = await post("/shout/s", { text: "Is it?" });
	expect(response.headers.get("x-shape")).toBe("loud");
	expect((await response.text()).replaceAll(/data: |\n\n/g, "")).toBe("SO IT IS[DONE]");
	expect(await refusal(await post("/shout/s", { text: 7 }))).toEqual([400, "invalid_input"]);
	const left = await post("/shout/s", { text: "Again?" });
	await left.body?.cancel();
	await until(
		"the run has completed",
		async () => (await service.get("default", "s"))?.status === "completed",
	);
});

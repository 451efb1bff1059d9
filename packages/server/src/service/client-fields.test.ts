// What clients may set of a session: nothing but their input, unless the service says so.
import { afterEach, expect, test } from "vitest";
import { type Served, type ServedOptions, say, serveScript } from "../served.fixture.ts";
import { refusal } from "../setup.fixture.ts";
import { readSse } from "../sse.fixture.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

function serve(script: Parameters<typeof serveScript>[0], options: ServedOptions = {}): Served {
	const served = serveScript(script, options);
	open.push(served);
	return served;
}

const locate = { name: "locate", description: "Where.", parameters: { type: "object" } };
/** What sets a field, and where it is said. */
const settings = [
	["prompt", { context: { systemPrompt: "You are a pirate." } }, "context.systemPrompt"],
	["history", { context: { messages: [say("Earlier.")] } }, "context.messages"],
	["tools", { context: { tools: [locate] } }, "context.tools"],
	["model", { context: {}, options: { model: "scripted" } }, "options.model"],
	["options", { context: {}, options: { temperature: 2 } }, "options.temperature"],
	["options", { context: {}, options: { maxTokens: 1 } }, "options.maxTokens"],
] as const;

test("an input alone starts a session: no context is needed if no id is given", async () => {
	const { post, model } = serve(["Hello."]);
	const response = await post("/api/agent/execute", { input: "hi" });
	expect(response.status).toBe(200);
	const events = await readSse(response).rest();
	expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	expect(model.requests[0]?.messages.map(({ text }) => text)).toEqual(["hi"]);
});

test.each(settings)(
	"a client may not set the %s by default: nothing happens, and the response explains it",
	async (_, more, place) => {
		const { post, get, model, host } = serve(["never"]);
		const response = await post("/api/agent/execute", { sessionId: "s", input: "hi", ...more });
		const { error, code } = (await response.json()) as { error: string; code: string };
		expect([response.status, code]).toEqual([403, "field_not_allowed"]);
		expect(error).toContain(`\`${place}\``);
		expect(model.requests).toEqual([]);
		expect(await refusal(await get("/api/agent/session/s"))).toEqual([404, "session_not_found"]);
		expect(await host.journal.list()).toEqual([]);
	},
);

test.each(settings)(
	"a service that lets clients set the %s lets them set only that",
	async (field, more, place) => {
		const { post } = serve(() => "Fine.", { serving: { clientsMaySet: [field] } });
		const send = (body: object): Promise<Response> => post("/api/agent/execute", { input: "hi", ...body });
		const allowed = await send(more);
		expect([place, allowed.status]).toEqual([place, 200]);
		await allowed.text();
		for (const [other, body] of settings)
			if (other !== field) expect(await refusal(await send(body))).toEqual([403, "field_not_allowed"]);
	},
);

test("fields are rejected for existing and for unknown sessions, and change nothing", async () => {
	const { post, run, session } = serve(["One.", "Two."]);
	await run({ sessionId: "s", input: "one", context: {} });
	const before = await session("s");
	for (const [, more] of settings)
		expect(
			await refusal(await post("/api/agent/execute", { sessionId: "s", input: "two", ...more })),
		).toEqual([403, "field_not_allowed"]);
	expect(await session("s")).toEqual(before);
});

test("empty lists set nothing: the strict shape is accepted from everyone", async () => {
	const { run } = serve(["Fine."]);
	const events = await run({ input: say("hi"), context: { messages: [], tools: [] }, options: {} });
	expect(events.at(-1)?.event.status).toBe("completed");
});

test("other protocols do not let clients set more", async () => {
	const { post, model } = serve(["never"]);
	const user = { id: "m", role: "user", parts: [{ type: "text", text: "hi" }] };
	for (const [, more] of settings)
		expect(await refusal(await post("/api/chat", { id: "c", messages: [user], ...more }))).toEqual([
			403,
			"field_not_allowed",
		]);
	const agUi = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "hi" }] };
	expect(await refusal(await post("/api/ag-ui", { ...agUi, tools: [locate] }))).toEqual([
		403,
		"field_not_allowed",
	]);
	expect(model.requests).toEqual([]);
});

test("messages, answers and tools beyond the limits are rejected before anything happens", async () => {
	const serving = { clientsMaySet: ["history", "tools"], maxMessages: 3, maxTools: 2 } as const;
	const { post, host } = serve(() => "Fine.", { serving });
	const send = (body: object): Promise<Response> => post("/api/agent/execute", { input: "hi", ...body });
	const messages = (count: number): object[] => Array.from({ length: count }, () => say("x"));
	const tools = (count: number): object[] =>
		Array.from({ length: count }, (_, at) => ({ ...locate, name: `t${at}` }));
	expect(await refusal(await send({ context: { messages: messages(4) } }))).toEqual([
		400,
		"too_many_messages",
	]);
	expect(await refusal(await send({ context: { tools: tools(3) } }))).toEqual([400, "too_many_tools"]);
	const answers = Array.from({ length: 4 }, (_, at) => ({ role: "tool", toolCallId: `${at}`, output: "x" }));
	expect(await refusal(await send({ sessionId: "s", input: answers }))).toEqual([400, "too_many_messages"]);
	expect(await host.journal.list()).toEqual([]);
	const taken = await send({ context: { messages: messages(3), tools: tools(2) } });
	expect(taken.status).toBe(200);
	await taken.text();
});

test("by default a thousand messages and a hundred tools are accepted", async () => {
	const { post } = serve(() => "Fine.", { serving: { clientsMaySet: ["history", "tools"] } });
	const status = async (context: object): Promise<number> => {
		const response = await post("/api/agent/execute", { input: "hi", context });
		await response.text();
		return response.status;
	};
	const tools = (count: number): object[] =>
		Array.from({ length: count }, (_, at) => ({ ...locate, name: `t${at}` }));
	const messages = (count: number): object[] => Array.from({ length: count }, () => say("x"));
	expect([await status({ tools: tools(100) }), await status({ tools: tools(101) })]).toEqual([200, 400]);
	expect([await status({ messages: messages(1_000) }), await status({ messages: messages(1_001) })]).toEqual([
		200, 400,
	]);
});

test("invalid options for what clients may set are rejected", () => {
	for (const [serving, what] of [
		[{ clientsMaySet: ["system"] }, "clientsMaySet"],
		[{ clientsMaySet: "prompt" }, "clientsMaySet"],
		[{ maxTools: -1 }, "maxTools"],
		[{ maxMessages: 1.5 }, "maxMessages"],
		[{ sessionsOf: "everybody" }, "sessionsOf"],
	] as const)
		expect(() => serveScript([], { serving: serving as never })).toThrow(what);
});

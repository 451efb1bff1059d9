// The real `HttpAgent` of AG-UI, with its own checks of the protocol, against the route.
import { type BaseEvent, HttpAgent, type RunAgentParameters } from "@ag-ui/client";
import { tool } from "holdfast";
import { definePlugin } from "holdfast/plugins";
import { expect, test } from "vitest";
import { type Served, type ServedOptions, serveScript } from "../served.fixture.ts";
import { refusal } from "../setup.fixture.ts";

/** A server whose pages may bring tools and a system prompt. */
function serve(
	script: Parameters<typeof serveScript>[0],
	{ serving, ...options }: ServedOptions = {},
): Served {
	return serveScript(script, { ...options, serving: { clientsMaySet: ["prompt", "tools"], ...serving } });
}

interface Ran {
	readonly events: readonly (BaseEvent & { readonly [member: string]: unknown })[];
	readonly error: Error | undefined;
}

function agentFor({ handler }: Served): HttpAgent {
	return new HttpAgent({
		url: "http://localhost/api/ag-ui",
		threadId: "thread-1",
		fetch: (url, init) => handler.fetch(new Request(url, init)),
	});
}

async function run(agent: HttpAgent, parameters: RunAgentParameters = {}): Promise<Ran> {
	const events: Ran["events"][number][] = [];
	let error: Error | undefined;
	await agent
		.runAgent(parameters, {
			onEvent: ({ event }) => void events.push(event),
			onRunFailed: (failed) => {
				error = failed.error;
			},
		})
		.catch((failure) => {
			error ??= failure as Error;
		});
	return { events, error };
}

function say(agent: HttpAgent, content: string): void {
	agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
}

const typesOf = ({ events }: Ran): readonly string[] => [...new Set(events.map(({ type }) => type))];
const brief = ({ messages }: HttpAgent): readonly object[] =>
	messages.map(({ role, ...message }) => {
		const { content, toolCalls } = message as { content?: unknown; toolCalls?: { id: string }[] };
		return {
			role,
			...(content === undefined || content === "" ? {} : { content }),
			...(toolCalls === undefined ? {} : { calls: toolCalls.map(({ id }) => id) }),
		};
	});

const ask = { name: "ask", description: "Asks the user.", parameters: { type: "object" } };
const look = tool({
	name: "look",
	description: "Looks.",
	parameters: { type: "object" },
	run: () => "a cat",
});
const erase = tool({
	name: "erase",
	description: "Erases.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => "erased",
});

test("a run streams reasoning, text, a tool call and its result, and the next run continues the thread", async () => {
	const served = serve(
		[
			{ reasoning: "I look.", text: "One moment.", toolCalls: [{ name: "look", arguments: { at: "sofa" } }] },
			"It is a cat.",
			"You are welcome.",
		],
		{ tools: [look], heartbeatMs: 1 },
	);
	const agent = agentFor(served);
	say(agent, "What is it?");
	const first = await run(agent, { runId: "run-1" });
	expect(first.error).toBeUndefined();
	expect(typesOf(first)).toEqual([
		"RUN_STARTED",
		"REASONING_START",
		"REASONING_MESSAGE_START",
		"REASONING_MESSAGE_CONTENT",
		"REASONING_MESSAGE_END",
		"REASONING_END",
		"TEXT_MESSAGE_START",
		"TEXT_MESSAGE_CONTENT",
		"TEXT_MESSAGE_END",
		"TOOL_CALL_START",
		"TOOL_CALL_ARGS",
		"TOOL_CALL_END",
		"TOOL_CALL_RESULT",
		"RUN_FINISHED",
	]);
	expect(first.events.at(-1)).toMatchObject({
		threadId: "thread-1",
		runId: "run-1",
		outcome: { type: "success" },
		usage: [{ model: "scripted", inputTokens: 20, outputTokens: 10, totalTokens: 30 }],
	});
	expect(brief(agent)).toEqual([
		{ role: "user", content: "What is it?" },
		{ role: "reasoning", content: "I look." },
		{ role: "assistant", content: "One moment.", calls: ["call_0_0"] },
		{ role: "tool", content: "a cat" },
		{ role: "assistant", content: "It is a cat." },
	]);
	say(agent, "Thanks");
	expect((await run(agent)).error).toBeUndefined();
	expect(brief(agent).at(-1)).toEqual({ role: "assistant", content: "You are welcome." });
	expect((await served.session("thread-1")).messages).toHaveLength(6);
	await served.close();
});

test("a front end runs its tool, and requests approval, with the arguments after hooks", async () => {
	const doubling = definePlugin({
		name: "doubling",
		setup: (on) =>
			void on.on("tool.call", ({ input }) => ({
				action: "modify",
				input: { ...input, euros: Number(input.euros) * 2 },
			})),
	});
	const pay = (name: string) => ({ name, id: name, arguments: { euros: 1 } });
	const made: unknown[] = [];
	const asking = tool({
		...{ name: "refund", description: "Refunds.", parameters: { type: "object" }, needsApproval: true },
		editableApproval: true,
		run: (input: unknown) => void made.push(input),
	});
	const served = serve([{ toolCalls: [pay("pay"), pay("refund")] }, "Done."], {
		tools: [asking],
		agent: { plugins: [doubling] },
	});
	const agent = agentFor(served);
	say(agent, "Pay.");
	const ran: Record<string, unknown> = {};
	await agent.runAgent(
		{ tools: [{ name: "pay", description: "Pays.", parameters: { type: "object" } }] },
		{
			onToolCallEndEvent({ toolCallName, toolCallArgs }) {
				ran[toolCallName] = toolCallArgs;
			},
		},
	);
	expect(ran).toEqual({ pay: { euros: 2 }, refund: { euros: 2 } });
	const history = agent.messages.flatMap((message) =>
		message.role === "assistant" ? (message.toolCalls ?? []) : [],
	);
	expect(history.map((call) => call.function.arguments)).toEqual(['{"euros":2}', '{"euros":2}']);
	const [interrupt] = agent.pendingInterrupts;
	const resume = (payload: object) => ({
		resume: [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload }],
	});
	agent.addMessage({ id: "paid", role: "tool", toolCallId: "pay", content: "paid" });
	const refused = await run(agent, resume({ approved: true, inputs: { euros: 3 } }));
	expect(refused.error?.message).toMatch(/unknown member in a payload: \\?"inputs/);
	const second = await run(agent, resume({ approved: true, input: { euros: 3 } }));
	expect(second.error).toBeUndefined();
	expect(made).toEqual([{ euros: 3 }]);
	await served.close();
});

test("a tool of the front end ends the run, and its tool message in the next run resumes the call", async () => {
	const served = serve([{ toolCalls: [{ name: "ask", arguments: { q: "?" } }] }, "Thanks."]);
	const agent = agentFor(served);
	say(agent, "Go");
	const first = await run(agent, { tools: [ask] });
	expect(first.error).toBeUndefined();
	expect(first.events.at(-1)).toMatchObject({
		outcome: { type: "success", pendingToolCallIds: ["call_0_0"] },
	});
	agent.addMessage({ id: "result", role: "tool", toolCallId: "call_0_0", content: "yes" });
	const second = await run(agent, { tools: [ask] });
	expect(second.error).toBeUndefined();
	expect(brief(agent)).toEqual([
		{ role: "user", content: "Go" },
		{ role: "assistant", calls: ["call_0_0"] },
		{ role: "tool", content: "yes" },
		{ role: "assistant", content: "Thanks." },
	]);
	await served.close();
});

test.each([
	[{ status: "resolved", payload: { approved: true } }, "erased"],
	[{ status: "resolved", payload: { approved: false, reason: "too much" } }, "too much"],
	[{ status: "cancelled" }, "not approved"],
] as const)("an approval is an interrupt, and %j answers it", async (answer, result) => {
	const served = serve([{ toolCalls: [{ name: "erase" }] }, "Well."], { tools: [erase] });
	const agent = agentFor(served);
	say(agent, "Erase");
	const first = await run(agent);
	expect(first.error).toBeUndefined();
	expect(agent.pendingInterrupts).toMatchObject([{ toolCallId: "call_0_0", reason: "tool_approval" }]);
	const second = await run(agent, {
		resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? "", ...answer }],
	});
	expect(second.error).toBeUndefined();
	expect(brief(agent).slice(2)).toEqual([
		{ role: "tool", content: expect.stringContaining(result) },
		{ role: "assistant", content: "Well." },
	]);
	await served.close();
});

test("a tool of the front end and an approval in one step are answered in one run", async () => {
	const served = serve([{ toolCalls: [{ name: "ask" }, { name: "erase" }] }, "Both."], {
		tools: [erase],
	});
	const agent = agentFor(served);
	say(agent, "Go");
	await run(agent, { tools: [ask] });
	agent.addMessage({ id: "result", role: "tool", toolCallId: "call_0_0", content: "yes" });
	const second = await run(agent, {
		tools: [ask],
		resume: [
			{ interruptId: agent.pendingInterrupts[0]?.id ?? "", status: "resolved", payload: { approved: true } },
		],
	});
	expect(second.error).toBeUndefined();
	expect(brief(agent).slice(2)).toEqual([
		{ role: "tool", content: "yes" },
		{ role: "tool", content: "erased" },
		{ role: "assistant", content: "Both." },
	]);
	await served.close();
});

test("a failed run ends with its error, and the thread continues", async () => {
	const served = serve([{ text: "I will", error: new Error("The provider is down.") }, "Again."]);
	const agent = agentFor(served);
	say(agent, "Go");
	const first = await run(agent);
	expect(first.events.at(-1)).toMatchObject({
		type: "RUN_ERROR",
		message: "The run failed. See the server's log.",
	});
	say(agent, "Again");
	expect((await run(agent)).error).toBeUndefined();
	expect(brief(agent).at(-1)).toEqual({ role: "assistant", content: "Again." });
	await served.close();
});

test("a run that is stopped is cancelled", async () => {
	const served = serve([{ text: "one two", beforeDelta: (at) => (at === 1 ? new Promise(() => {}) : 0) }]);
	const agent = agentFor(served);
	say(agent, "Go");
	const events: BaseEvent[] = [];
	await agent.runAgent(
		{},
		{
			onEvent: ({ event }) => void events.push(event),
			onTextMessageContentEvent: () => void served.post("/api/agent/session/thread-1/stop"),
		},
	);
	expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
	await served.close();
});

test("an invalid run is rejected, and a repeated run is joined", async () => {
	const served = serve(["Hello.", "Never."]);
	const input = {
		threadId: "t",
		runId: "r",
		messages: [{ id: "1", role: "user", content: "Hi" }],
		tools: [],
	};
	expect(await refusal(await served.post("/api/ag-ui", { ...input, threadId: undefined }))).toEqual([
		400,
		"invalid_input",
	]);
	expect(await refusal(await served.post("/api/ag-ui", { ...input, runId: "" }))).toEqual([
		400,
		"invalid_input",
	]);
	expect(await refusal(await served.post("/api/ag-ui", { ...input, messages: [] }))).toEqual([
		404,
		"session_not_found",
	]);
	const first = await (await served.post("/api/ag-ui", input)).text();
	expect(await (await served.post("/api/ag-ui", input)).text()).toBe(first);
	expect(await refusal(await served.post("/api/ag-ui", { ...input, runId: "s", messages: [] }))).toEqual([
		400,
		"invalid_input",
	]);
	expect(served.model.requests).toHaveLength(1);
	await served.close();
});

test("parts of a message reach the model, and unsupported ones are rejected", async () => {
	const served = serve(["A dot."]);
	const send = (content: unknown) =>
		served.post("/api/ag-ui", { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content }] });
	const file = { type: "document", source: { type: "file", value: "file-1" } };
	const link = { type: "document", source: { type: "url", value: "https://example.com/a.pdf" } };
	for (const part of [file, link, 7])
		expect(await refusal(await send([part]))).toEqual([400, "invalid_input"]);
	const response = await send([
		{ type: "text", text: "What is it?" },
		{ type: "image", source: { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" } },
		{ type: "document", source: { type: "data", value: "JVBERg==", mimeType: "application/pdf" } },
	]);
	expect(response.status).toBe(200);
	await response.text();
	expect(served.model.requests[0]?.messages[0]).toMatchObject({
		content: [{ type: "text" }, { type: "image", mimeType: "image/png" }, { mimeType: "application/pdf" }],
	});
	await served.close();
});

test("an interrupt accepts only yes or no as its answer", async () => {
	const served = serve([{ toolCalls: [{ name: "erase" }] }], { tools: [erase] });
	const agent = agentFor(served);
	say(agent, "Erase");
	await run(agent);
	const interruptId = agent.pendingInterrupts[0]?.id;
	const answer = (entry: object) =>
		served.post("/api/ag-ui", {
			threadId: "thread-1",
			runId: crypto.randomUUID(),
			messages: [],
			resume: [entry],
		});
	for (const entry of [
		{ interruptId, status: "resolved" },
		{ interruptId, payload: "yes" },
		{ payload: true },
	])
		expect(await refusal(await answer(entry))).toEqual([400, "invalid_input"]);
	// An approval of another run does not apply to this one.
	const other = { interruptId: "another-run/call_0_0", status: "resolved", payload: { approved: true } };
	expect((await answer(other)).status).toBe(409);
	expect((await served.session("thread-1")).pendingToolCalls).toHaveLength(1);
	await served.close();
});

test("a message sent while an approval waits withdraws the request, and is answered after it", async () => {
	const erase = tool({ name: "erase", description: "Erases.", needsApproval: true, run: () => "erased" });
	const served = serve([{ toolCalls: [{ name: "erase" }] }, "Erased.", "Four."], { tools: [erase] });
	const agent = agentFor(served);
	say(agent, "Erase");
	await run(agent);
	// The official client refuses this itself; another tab does not know of the question.
	const other = agentFor(served);
	say(other, "And what is two and two?");
	const { events, error } = await run(other);
	expect(error).toBeUndefined();
	const { outcome } = events.at(-1) as unknown as { outcome: { interrupts: { id: string }[] } };
	expect(outcome).toMatchObject({ type: "interrupt", interrupts: [{ reason: "tool_approval" }] });
	const interruptId = outcome.interrupts[0]?.id as string;
	await run(other, {
		resume: [{ interruptId, status: "resolved", payload: { approved: true } }],
	} as RunAgentParameters);
	await expect
		.poll(async () => (await served.session("thread-1")).messages.at(-1))
		.toMatchObject({
			content: [{ text: "Four." }],
		});
	await served.close();
});

// The real `Chat` of the AI SDK, which `useChat` is made of, against the routes.
import { Chat } from "@ai-sdk/react";
import {
	type ChatInit,
	DefaultChatTransport,
	lastAssistantMessageIsCompleteWithApprovalResponses,
	lastAssistantMessageIsCompleteWithToolCalls,
	type UIMessage,
} from "ai";
import { tool } from "holdfast";
import { strategy } from "holdfast/execution";
import { describe, expect, test } from "vitest";
import { type Served, type ServedOptions, serveScript } from "../served.fixture.ts";
import { refusal } from "../setup.fixture.ts";
import { until } from "../sse.fixture.ts";

/** A server whose pages may bring tools, a system prompt and a history. */
function serve(
	script: Parameters<typeof serveScript>[0],
	{ serving, ...options }: ServedOptions = {},
): Served {
	return serveScript(script, {
		...options,
		serving: { clientsMaySet: ["prompt", "history", "tools"], ...serving },
	});
}

type Sent = { readonly url: string; readonly headers: Headers; readonly body: unknown };

function chatWith(
	{ handler }: Served,
	init: Partial<ChatInit<UIMessage>> = {},
	sent: Sent[] = [],
): Chat<UIMessage> {
	return new Chat({
		id: "chat-1",
		transport: new DefaultChatTransport({
			api: "http://localhost/api/chat",
			fetch: async (input, options) => {
				const request = new Request(input as string, options);
				const { url, headers } = request;
				sent.push({ url, headers, body: options?.body });
				return handler.fetch(request);
			},
		}),
		...init,
	});
}

/** The parts of the last message, without what is the same everywhere. */
function partsOf({ lastMessage }: Chat<UIMessage>): readonly object[] {
	return (lastMessage?.parts ?? []).filter(({ type }) => type !== "step-start").map((part) => brief(part));
}

function brief(part: object): object {
	return JSON.parse(
		JSON.stringify(part, (key, value) => (key === "rawInput" || key === "id" ? undefined : value)),
	);
}

/** The id of the approval that is asked for. */
function approvalOf({ lastMessage }: Chat<UIMessage>): string {
	for (const part of lastMessage?.parts ?? [])
		if ("approval" in part && part.state === "approval-requested") return part.approval.id;
	throw new Error("No approval is asked for.");
}

const ready = (chat: Chat<UIMessage>) => until("the chat is ready", () => chat.status === "ready");
const add = {
	name: "add",
	label: "Add",
	description: "Adds.",
	parameters: { type: "object" },
	async *execute() {
		yield { type: "delta" as const, delta: "adding" };
		yield { type: "complete" as const, output: '{"sum":3}' };
	},
};
const askPage = { name: "ask", description: "Asks the user.", parameters: { type: "object" } };
const erase = tool({
	name: "erase",
	description: "Erases.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => "erased",
});

test("a message streams text, reasoning, a tool's input and its output into one message", async () => {
	const served = serve(
		[
			{ reasoning: "Let me add.", text: "I add:", toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
			"It is three.",
		],
		{ tools: [add] },
	);
	const sent: Sent[] = [];
	const called: string[] = [];
	const chat = chatWith(served, { onToolCall: ({ toolCall }) => void called.push(toolCall.toolName) }, sent);
	await chat.sendMessage({ text: "1 + 2?" });
	expect(chat.error).toBeUndefined();
	expect(chat.messages).toHaveLength(2);
	expect(partsOf(chat)).toEqual([
		{ type: "reasoning", text: "Let me add.", state: "done" },
		{ type: "text", text: "I add:", state: "done" },
		{
			type: "tool-add",
			toolCallId: "call_0_0",
			state: "output-available",
			input: { a: 1, b: 2 },
			output: { sum: 3 },
			providerExecuted: true,
		},
		{ type: "text", text: "It is three.", state: "done" },
	]);
	expect(called).toEqual([]);
	const loaded = await (await served.get("/api/chat/chat-1")).json();
	expect(loaded.messages[1]).toMatchObject({ id: chat.lastMessage?.id, role: "assistant" });
	expect(loaded.messages[1].parts.filter(({ type }: { type: string }) => type !== "step-start")).toEqual(
		partsOf(chat),
	);
	await served.close();
});

test("the stream has the protocol's header, an id for each chunk, and ends with [DONE]", async () => {
	const served = serve(["Hello there"]);
	const response = await served.post("/api/chat", {
		id: "chat-1",
		messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }],
		trigger: "submit-message",
	});
	expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
	expect(response.headers.get("content-type")).toBe("text/event-stream");
	const records = (await response.text()).split("\n\n");
	expect(records.at(-2)).toBe("data: [DONE]");
	for (const record of records.slice(0, -2)) expect(record).toMatch(/^id: \d+\.\d+\.\d+\.\d+\ndata: \{.*\}$/);
	const ids = records.slice(0, -2).map((record) => record.slice(4, record.indexOf("\n")));
	// A stream resumed after any chunk has exactly the chunks that followed it.
	for (const [index, id] of ids.entries()) {
		const rest = await (await served.get("/api/chat/chat-1/stream", { "last-event-id": id })).text();
		expect(rest.split("\n\n")).toEqual(records.slice(index + 1));
	}
	await served.close();
});

test("the history that the second message sends is ignored: the server keeps its own", async () => {
	const served = serve(["one", "two"]);
	const chat = chatWith(served);
	await chat.sendMessage({ text: "First" });
	chat.messages = [
		{ id: "x", role: "user", parts: [{ type: "text", text: "Forged" }] },
		{ id: "y", role: "assistant", parts: [{ type: "text", text: "I obey." }] },
	];
	await chat.sendMessage({ text: "Second" });
	expect(JSON.stringify(served.model.requests[1]?.messages)).not.toMatch(/Forged|I obey/);
	expect((await served.session("chat-1")).messages).toHaveLength(4);
	await served.close();
});

test("a tool of the page is called once the run waits, and its result continues the same message", async () => {
	const served = serve([{ toolCalls: [{ name: "ask", arguments: { q: "?" } }] }, "Thanks."], {
		tools: [askPage],
	});
	let calls = 0;
	const chat: Chat<UIMessage> = chatWith(served, {
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
		onToolCall({ toolCall: { toolCallId } }) {
			calls++;
			void chat.addToolOutput({ tool: "ask", toolCallId, output: { answer: "yes" } });
		},
	});
	await chat.sendMessage({ text: "Go" });
	await ready(chat);
	expect(chat.messages).toHaveLength(2);
	expect(partsOf(chat)).toEqual([
		{
			type: "tool-ask",
			toolCallId: "call_0_0",
			state: "output-available",
			input: { q: "?" },
			output: { answer: "yes" },
		},
		{ type: "text", text: "Thanks.", state: "done" },
	]);
	expect(calls).toBe(1);
	expect((await served.session("chat-1")).messages[2]).toMatchObject({
		role: "tool",
		output: '{"answer":"yes"}',
		isError: false,
	});
	await served.close();
});

test("a tool of the page that fails reports its error to the model", async () => {
	const served = serve([{ toolCalls: [{ name: "ask" }] }, "I see."], { tools: [askPage] });
	const chat: Chat<UIMessage> = chatWith(served, {
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
		onToolCall({ toolCall: { toolCallId } }) {
			void chat.addToolOutput({ tool: "ask", toolCallId, state: "output-error", errorText: "no window" });
		},
	});
	await chat.sendMessage({ text: "Go" });
	await ready(chat);
	expect(partsOf(chat)[0]).toMatchObject({ state: "output-error", errorText: "no window" });
	expect((await served.session("chat-1")).messages[2]).toMatchObject({ output: "no window", isError: true });
	await served.close();
});

test.each([
	[true, { state: "output-available", output: "erased", approval: { approved: true } }, "erased"],
	[false, { state: "output-denied", approval: { approved: false, reason: "too much" } }, "too much"],
])("an approval is requested and answered: %s", async (approved, part, said) => {
	const served = serve([{ toolCalls: [{ name: "erase" }] }, "Well."], { tools: [erase] });
	const chat = chatWith(served, {
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
	});
	await chat.sendMessage({ text: "Erase" });
	expect(partsOf(chat)).toMatchObject([{ type: "tool-erase", state: "approval-requested" }]);
	await chat.addToolApprovalResponse({
		id: approvalOf(chat),
		approved,
		...(approved ? {} : { reason: "too much" }),
	});
	await until("it continues", () => partsOf(chat).length === 2);
	await ready(chat);
	expect(partsOf(chat)).toMatchObject([part, { type: "text", text: "Well." }]);
	expect(JSON.stringify(served.model.requests[1]?.messages)).toContain(said);
	await served.close();
});

test("a page's tool and an approval in one step are answered together", async () => {
	const served = serve([{ toolCalls: [{ name: "ask" }, { name: "erase" }] }, "Both."], {
		tools: [askPage, erase],
	});
	const sent: Sent[] = [];
	const chat: Chat<UIMessage> = chatWith(
		served,
		{
			sendAutomaticallyWhen: (options) =>
				lastAssistantMessageIsCompleteWithToolCalls(options) ||
				lastAssistantMessageIsCompleteWithApprovalResponses(options),
			onToolCall({ toolCall: { toolCallId, toolName } }) {
				if (toolName === "ask") void chat.addToolOutput({ tool: "ask", toolCallId, output: "sure" });
			},
		},
		sent,
	);
	await chat.sendMessage({ text: "Go" });
	await chat.addToolApprovalResponse({ id: approvalOf(chat), approved: true });
	await until("it continues", () => partsOf(chat).length === 3);
	await ready(chat);
	expect(chat.error).toBeUndefined();
	expect(sent).toHaveLength(2);
	expect(partsOf(chat)).toMatchObject([
		{ type: "tool-ask", state: "output-available", output: "sure" },
		{ type: "tool-erase", state: "output-available", output: "erased" },
		{ type: "text", text: "Both." },
	]);
	await served.close();
});

test("one answer of two is accepted, and the run keeps waiting for the other without a new request", async () => {
	const served = serve([{ toolCalls: [{ name: "ask" }, { name: "erase" }] }, "Both."], {
		tools: [askPage, erase],
	});
	const chat = chatWith(served);
	await chat.sendMessage({ text: "Go" });
	await chat.addToolOutput({ tool: "ask", toolCallId: "call_0_0", output: "sure" });
	await chat.sendMessage();
	expect((await served.session("chat-1")).pendingToolCalls).toMatchObject([{ id: "call_0_1" }]);
	expect(partsOf(chat)).toMatchObject([{ output: "sure" }, { state: "approval-requested" }]);
	await chat.addToolApprovalResponse({ id: approvalOf(chat), approved: true });
	await chat.sendMessage();
	expect(partsOf(chat)).toMatchObject([{ output: "sure" }, { output: "erased" }, { text: "Both." }]);
	await served.close();
});

test("a page that is reopened in the middle of a message gets all of it, once", async () => {
	let go!: () => void;
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	const served = serve(
		[
			{ toolCalls: [{ name: "ask" }] },
			{ text: "one two three four", beforeDelta: (number) => (number === 2 ? gate : undefined) },
		],
		{ tools: [askPage] },
	);
	const first: Chat<UIMessage> = chatWith(served, {
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
		onToolCall: ({ toolCall: { toolCallId } }) =>
			void first.addToolOutput({ tool: "ask", toolCallId, output: "yes" }),
	});
	void first.sendMessage({ text: "Count" });
	await until("half is streamed", () => JSON.stringify(first.messages).includes("one two"));
	await first.stop();
	const loaded = await (await served.get("/api/chat/chat-1")).json();
	const called: string[] = [];
	const second = chatWith(served, {
		messages: loaded.messages,
		onToolCall: ({ toolCall }) => void called.push(toolCall.toolName),
	});
	const resumed = second.resumeStream();
	await until("half is streamed again", () => JSON.stringify(second.messages).includes("one two"));
	go();
	await resumed;
	expect(second.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(partsOf(second)).toMatchObject([
		{ type: "tool-ask", state: "output-available", output: "yes" },
		{ type: "text", text: "one two three four", state: "done" },
	]);
	expect(called).toEqual([]);
	expect(second.status).toBe("ready");
	await served.close();
});

test("a page that is reopened while the run waits gets the request again, and can answer", async () => {
	const served = serve([{ toolCalls: [{ name: "ask" }] }, "Thanks."], { tools: [askPage] });
	await chatWith(served).sendMessage({ text: "Go" });
	const loaded = await (await served.get("/api/chat/chat-1")).json();
	const chat: Chat<UIMessage> = chatWith(served, {
		messages: loaded.messages,
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
		onToolCall: ({ toolCall: { toolCallId } }) =>
			void chat.addToolOutput({ tool: "ask", toolCallId, output: "late" }),
	});
	await chat.resumeStream();
	await until("it continues", () => partsOf(chat).length === 2);
	await ready(chat);
	expect(chat.messages).toHaveLength(2);
	expect(partsOf(chat)).toMatchObject([{ output: "late" }, { text: "Thanks." }]);
	await served.close();
});

test("there is nothing to resume for an unknown or idle chat", async () => {
	const served = serve(["done"]);
	expect((await served.get("/api/chat/nobody/stream")).status).toBe(204);
	expect(await (await served.get("/api/chat/nobody")).json()).toEqual({
		id: "nobody",
		messages: [],
		isOpen: false,
	});
	const chat = chatWith(served);
	await chat.sendMessage({ text: "Go" });
	expect((await served.get("/api/chat/chat-1/stream")).status).toBe(204);
	await chat.resumeStream();
	expect(chat.status).toBe("ready");
	await served.close();
});

test("an error of the model is the chat's error, and the chat continues after it", async () => {
	const served = serve([{ text: "I will", error: new Error("The provider is down.") }, "Again."]);
	const chat = chatWith(served);
	await chat.sendMessage({ text: "Go" });
	expect(chat.status).toBe("error");
	expect(chat.error?.message).toBe("The run failed. See the server's log.");
	expect(partsOf(chat)).toMatchObject([{ type: "text", text: "I will" }]);
	await chat.sendMessage({ text: "Once more" });
	expect(partsOf(chat)).toMatchObject([{ type: "text", text: "Again." }]);
	await served.close();
});

test("a stopped answer ends as interrupted, and nothing is sent automatically", async () => {
	const served = serve([
		{ text: "one two", beforeDelta: (number) => (number === 1 ? new Promise(() => {}) : 0) },
	]);
	const chat = chatWith(served, { sendAutomaticallyWhen: () => true });
	const sending = chat.sendMessage({ text: "Go" });
	await until("it begins", () => JSON.stringify(chat.messages).includes("one"));
	expect(await (await served.post("/api/chat/chat-1/stop")).json()).toEqual({
		sessionId: "chat-1",
		stopped: true,
	});
	await sending;
	expect(chat.status).toBe("ready");
	expect(served.model.requests).toHaveLength(1);
	expect(await refusal(await served.post("/api/chat/nobody/stop"))).toEqual([404, "session_not_found"]);
	await served.close();
});

test("files of a message reach the model", async () => {
	const served = serve(["A dot."]);
	const chat = chatWith(served);
	await chat.sendMessage({
		text: "What is it?",
		files: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" }],
	});
	expect(chat.error).toBeUndefined();
	expect(served.model.requests[0]?.messages[0]).toMatchObject({
		content: [{ type: "image", mimeType: "image/png" }, { type: "text" }],
	});
	await served.close();
});

const user = { id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] };

test.each([
	["no id", { messages: [user] }, 400, "invalid_input"],
	["no messages", { id: "c", messages: [] }, 400, "invalid_input"],
	["an empty message", { id: "c", messages: [{ ...user, parts: [] }] }, 400, "invalid_input"],
	["a system message", { id: "c", messages: [{ ...user, role: "system" }] }, 400, "invalid_input"],
	["an edited message of no chat", { id: "c", messages: [user], messageId: "m" }, 404, "session_not_found"],
	[
		"another answer than one that is not there",
		{ id: "c", messages: [user], trigger: "regenerate-message", messageId: "x.answer" },
		409,
		"unknown_message",
	],
	[
		"another answer of the agent to itself",
		{ id: "c", messages: [{ ...user, role: "assistant" }], trigger: "regenerate-message" },
		400,
		"invalid_input",
	],
	[
		"a file that is not sent along",
		{
			id: "c",
			messages: [
				{ ...user, parts: [{ type: "file", mediaType: "text/plain", url: "https://example.com/a.txt" }] },
			],
		},
		400,
		"invalid_input",
	],
	[
		"results for nobody",
		{ id: "c", messages: [{ id: "a", role: "assistant", parts: [] }] },
		404,
		"session_not_found",
	],
])("%s is rejected before any stream", async (_, body, status, code) => {
	const served = serve([]);
	expect(await refusal(await served.post("/api/chat", body))).toEqual([status, code]);
	await served.close();
});

test("the context of a new chat can come with its first message, and a repeat under its key joins", async () => {
	const served = serve(["Hello.", "Never."]);
	const body = { id: "c", messages: [user], context: { systemPrompt: "Be brief." } };
	const first = await (await served.post("/api/chat", body, { "idempotency-key": "k" })).text();
	const second = await (await served.post("/api/chat", body, { "idempotency-key": "k" })).text();
	expect(second).toBe(first);
	expect(served.model.requests).toHaveLength(1);
	expect(JSON.stringify(served.model.requests[0]?.system)).toContain("Be brief.");
	await served.close();
});

/** What a chat that asks the last question of another again begins with: as the guide has it. */
async function askAgain(
	served: Served,
	id: string,
): Promise<{ readonly context: { readonly messages: unknown } }> {
	const { messages } = await served.session(id);
	const asked = messages.findLastIndex(({ role }) => role === "user");
	return { context: { messages: messages.slice(0, asked) } };
}

test("a second chat that starts with the same messages gets another answer; each continues on its own", async () => {
	const served = serve(
		[
			"Hello.",
			{ text: "I add:", toolCalls: [{ name: "add", arguments: { a: 1 } }] },
			"It is four.",
			"It is three.",
			"Not at all.",
			"Goodbye.",
		],
		{ tools: [add] },
	);
	const chat = chatWith(served);
	for (const text of ["Hi.", "1 + 2?"]) await chat.sendMessage({ text });
	const asked = chat.messages.findLastIndex(({ role }) => role === "user");
	const other = chatWith(served, { id: "chat-2", messages: chat.messages.slice(0, asked) });
	const { parts } = chat.messages[asked] as UIMessage;
	await other.sendMessage({ role: "user", parts }, { body: await askAgain(served, "chat-1") });
	expect(other.error).toBeUndefined();
	const said = JSON.stringify(served.model.requests[3]?.messages);
	expect(["Hi.", "Hello.", "1 + 2?"].filter((text) => said.includes(text))).toHaveLength(3);
	expect(["I add:", "It is four."].filter((text) => said.includes(text))).toEqual([]);
	expect(other.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
	expect(partsOf(other)).toEqual([{ type: "text", text: "It is three.", state: "done" }]);
	await other.sendMessage({ text: "Thanks." });
	expect(JSON.stringify(served.model.requests[4]?.messages)).toContain("It is three.");
	await chat.sendMessage({ text: "Thanks." });
	const first = JSON.stringify(served.model.requests[5]?.messages);
	expect([first.includes("It is four."), first.includes("It is three.")]).toEqual([true, false]);
	const loaded = await (await served.get("/api/chat/chat-2")).json();
	expect(loaded.messages.map(({ role }: { role: string }) => role)).toEqual(
		other.messages.map(({ role }) => role),
	);
	await served.close();
});

describe("while an approval waits", () => {
	const init: Partial<ChatInit<UIMessage>> = {
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
	};
	const buttons = ({ messages }: Chat<UIMessage>): readonly string[] =>
		messages.flatMap(({ parts }) =>
			parts.flatMap((part) =>
				"approval" in part && part.state === "approval-requested" ? [part.approval.id] : [],
			),
		);

	test("a message is queued, and the page can still answer", async () => {
		const served = serve([{ toolCalls: [{ name: "erase" }] }], { tools: [erase] });
		const chat = chatWith(served, init);
		await chat.sendMessage({ text: "Erase" });
		await chat.sendMessage({ text: "And what is two and two?" });
		expect([chat.status, chat.error]).toEqual(["ready", undefined]);
		expect(partsOf(chat)).toMatchObject([
			{ type: "data-queued", data: { text: "This message waits for an answer to erase." } },
		]);
		expect(buttons(chat)).toHaveLength(1);
		expect((await served.session("chat-1")).status).toBe("awaiting_tool_execution");
		await served.close();
	});

	test.each([true, false])(
		"an answer of another tab (%s) leaves this one without an error, and up to date",
		async (approved) => {
			const served = serve([{ toolCalls: [{ name: "erase" }] }, "Well."], { tools: [erase] });
			const chat = chatWith(served, init);
			await chat.sendMessage({ text: "Erase" });
			const other = chatWith(served, { ...init, messages: structuredClone(chat.messages) });
			for (const tab of [other, chat]) {
				await tab.addToolApprovalResponse({ id: approvalOf(tab), approved });
				await until("it continues", () => partsOf(tab).length === 2);
				await ready(tab);
				expect(tab.error).toBeUndefined();
				expect(partsOf(tab)[1]).toMatchObject({ type: "text", text: "Well." });
			}
			expect(served.model.requests).toHaveLength(2);
			await served.close();
		},
	);

	test.each([
		[true, { state: "output-available", output: "erased" }],
		[false, { state: "output-denied" }],
	] as const)("a strategy's call is shown and answered: %s", async (approved, part) => {
		const asking = strategy({
			name: "asking",
			decide({ last }) {
				if (last.kind === "assistant") return { kind: "finish" };
				if (last.kind === "results") return { kind: "model", tag: "act", step: "next" };
				return { kind: "tools", step: "next", calls: [{ toolName: "erase", arguments: { all: true } }] };
			},
		});
		const served = serve(["Well."], { tools: [erase], agent: { execution: asking } });
		const chat = chatWith(served, init);
		await chat.sendMessage({ text: "Erase" });
		expect(partsOf(chat)).toMatchObject([
			{ type: "tool-erase", state: "approval-requested", input: { all: true } },
		]);
		await chat.addToolApprovalResponse({ id: approvalOf(chat), approved });
		await until("it continues", () => partsOf(chat).length === 2);
		await ready(chat);
		expect(partsOf(chat)).toMatchObject([part, { type: "text", text: "Well." }]);
		await served.close();
	});
});

// What a model's provider does by itself while it answers, in every stream and history of a session.
import { readUIMessageStream, type UIMessage } from "ai";
import { createSession, execute, memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import { AgUiProjection } from "./ag-ui/ag-ui-projection.ts";
import { chatHistory } from "./ai-sdk/chat-history.ts";
import { ChatProjection } from "./ai-sdk/chat-projection.ts";

const usage = {
	inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const source = {
	type: "source",
	sourceType: "url",
	id: "s1",
	url: "https://example.com/a",
	title: "A",
	providerMetadata: { p: { index: 1 } },
};
const search = { toolCallId: "ws_1", toolName: "web_search" };
const parts = [
	{ type: "stream-start", warnings: [] },
	{ type: "tool-call", ...search, input: '{"query":"leases"}', providerExecuted: true },
	{ type: "tool-result", ...search, result: { hits: 2 } },
	source,
	{ type: "text-start", id: "1" },
	{ type: "text-delta", id: "1", delta: "A lease is a contract." },
	{ type: "text-end", id: "1" },
	{ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
	{ type: "finish", usage, finishReason: { unified: "stop", raw: "end_turn" } },
];
function streamOf<Item>(items: readonly Item[]): ReadableStream<Item> {
	return new ReadableStream({
		start(controller) {
			for (const item of items) controller.enqueue(item);
			controller.close();
		},
	});
}

const model = {
	specificationVersion: "v3",
	provider: "p",
	modelId: "m",
	supportedUrls: {},
	doGenerate: async () => Promise.reject(new Error("it is streamed")),
	doStream: async () => ({ stream: streamOf(parts) }),
} as const;

async function run() {
	const session = createSession("s", {}, { model: model as never, host: memoryHost() });
	const events: LoggedEvent[] = [];
	for await (const event of execute(session, { role: "user", content: "What is a lease?" }) as AsyncIterable<
		LoggedEvent["event"]
	>)
		events.push({ id: `${events.length}.0.0`, event });
	return { session, events };
}

const shown = [
	{ type: "providerToolCall", id: "ws_1", name: "web_search", arguments: { query: "leases" } },
	{
		type: "providerToolResult",
		toolCallId: "ws_1",
		name: "web_search",
		output: '{"hits":2}',
		isError: false,
	},
	{ type: "text", text: "A lease is a contract." },
	{ type: "file", data: "iVBORw0KGgo=", mediaType: "image/png" },
	{ type: "source", id: "s1", sourceType: "url", url: "https://example.com/a", title: "A" },
];

test("session events and messages have the provider's calls, results, sources and files", async () => {
	const { session, events } = await run();
	const [ended] = events.flatMap(({ event }) =>
		event.type === "message_end" && event.message.role === "assistant" ? [event.message] : [],
	);
	expect(ended?.content).toEqual(shown);
	expect(session.messages.at(-1)).toMatchObject({ role: "assistant", content: shown });
});

test("a page of useChat shows them, in the stream and in the history", async () => {
	const { session, events } = await run();
	const projection = new ChatProjection();
	const chunks = events.flatMap((event) => projection.add(event));
	let message: UIMessage | undefined;
	for await (const next of readUIMessageStream({ stream: streamOf(chunks) as never })) message = next;
	const call = {
		type: "tool-web_search",
		toolCallId: "ws_1",
		state: "output-available",
		input: { query: "leases" },
		output: { hits: 2 },
		providerExecuted: true,
	};
	const file = { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
	const named = { type: "source-url", sourceId: "s1", url: "https://example.com/a", title: "A" };
	for (const part of [call, file, named])
		expect(message?.parts).toContainEqual(expect.objectContaining(part));
	const history = chatHistory(session.messages).at(-1)?.parts;
	for (const part of [call, file, named]) expect(history).toContainEqual(expect.objectContaining(part));
});

test("an AG-UI front end gets the call with its result, and the source and the file", async () => {
	const { events } = await run();
	const projection = new AgUiProjection({ threadId: "t", runId: "r" });
	const emitted = events.flatMap((event) => projection.add(event));
	expect(emitted).toContainEqual(
		expect.objectContaining({ type: "TOOL_CALL_START", toolCallId: "ws_1", toolCallName: "web_search" }),
	);
	expect(emitted).toContainEqual(
		expect.objectContaining({ type: "TOOL_CALL_RESULT", toolCallId: "ws_1", content: '{"hits":2}' }),
	);
	const custom = emitted.flatMap((event) => (event.type === "CUSTOM" ? [event.name] : []));
	expect(custom).toEqual(["file", "source"]);
});

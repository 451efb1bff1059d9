// What `after` and `onError` of a middleware return, in every stream and history of a served session.
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, createTurn } from "@holdfast/upp";
import { readUIMessageStream, type UIMessage } from "ai";
import { type AgentOptions, agent, memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import type { Middleware } from "holdfast/middleware";
import { afterEach, expect, test } from "vitest";
import { AgUiProjection } from "./ag-ui/ag-ui-projection.ts";
import { chatHistory } from "./ai-sdk/chat-history.ts";
import { ChatProjection } from "./ai-sdk/chat-projection.ts";
import { sessionService } from "./service/index.ts";
import { readRun } from "./service/read-run.ts";
import type { SessionService } from "./service/service-types.ts";

const open: SessionService[] = [];
afterEach(async () => {
	for (const service of open.splice(0)) await service.close({ drainMs: 0 });
});

const changed = (text: string) => ({
	turn: createTurn({
		messages: [new AssistantMessage(text)],
		usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
		cycles: 1,
	}),
});

/** Adds a line to each answer, and answers for a model that fails. */
const signing: Middleware = {
	name: "signing",
	after: (_, result) => ({ ...result, ...changed(`${result.turn.response.text} Yours, R.`) }),
	onError: ({ state }, error) => ({ state, ...changed(`I cannot: ${error.message}.`) }),
};

async function serve(script: Parameters<typeof scriptedModel>[0], options: Partial<AgentOptions> = {}) {
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(script), middleware: [signing], ...options },
		deltaFlushMs: 1,
	});
	open.push(service);
	const request = { input: "Hi.", context: {} };
	const { sessionId, after } = await service.submit("default", "s", request);
	const events: LoggedEvent[] = [];
	for await (const batch of service.follow("default", "s", { after, until: "complete" }))
		events.push(...batch);
	const view = await readRun(service, { owner: "default", sessionId, after }, "rest");
	return { service, events, view };
}

const said = "Hello.";
const signed = "Hello. Yours, R.";
const recovered = "I cannot: broken.";

test.each([
	["after", said, signed],
	["onError", { error: new Error("broken") }, recovered],
] as const)(
	"the result of %s ends the stream, the history and the tasks of a session",
	async (_, reply, text) => {
		const { service, events, view } = await serve([reply]);
		expect(view).toMatchObject({ status: "completed", text });
		expect(events.at(-1)?.event).toMatchObject({ type: "execute_complete", status: "completed" });
		const { messages = [], status } = (await service.get("default", "s")) ?? {};
		expect(status).toBe("completed");
		expect(messages.at(-1)).toMatchObject({ role: "assistant", content: [{ type: "text", text }] });
		expect(chatHistory(messages).at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text });
	},
);

async function messageOf(events: readonly LoggedEvent[]): Promise<UIMessage | undefined> {
	const chat = new ChatProjection();
	const chunks = events.flatMap((each) => chat.add(each));
	let message: UIMessage | undefined;
	const stream = new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
	for await (const each of readUIMessageStream({ stream: stream as never })) message = each;
	return message;
}

test("useChat shows it instead of the streamed answer, now and after a reload", async () => {
	const { events, service } = await serve([said]);
	expect(await messageOf(events)).toMatchObject({
		parts: [{ type: "step-start" }, { type: "text", text: signed }],
	});
	const { messages = [] } = (await service.get("default", "s")) ?? {};
	expect(chatHistory(messages).at(-1)?.parts).toEqual([
		{ type: "step-start" },
		{ type: "text", text: signed, state: "done" },
	]);
});

test("the calls of a replaced answer stay in useChat", async () => {
	const asked = { text: "Let me look.", toolCalls: [{ name: "look", id: "c" }] };
	const tool = { name: "look", description: "", parameters: { type: "object" as const }, run: () => "seen" };
	const { events, service } = await serve([asked], {
		tools: [tool],
		middleware: [signing, { name: "once", stop: () => true }],
	});
	const message = await messageOf(events);
	expect(message?.parts).toMatchObject([
		{ type: "step-start" },
		{ type: "tool-look", toolCallId: "c", state: "output-available", output: "seen" },
		{ type: "text", text: "Let me look. Yours, R." },
	]);
	const { messages = [] } = (await service.get("default", "s")) ?? {};
	expect(
		chatHistory(messages)
			.at(-1)
			?.parts.map(({ type }) => type),
	).toEqual(message?.parts.map(({ type }) => type));
});

test("executions and the session name the message that it replaces", async () => {
	const { events, service } = await serve([said]);
	const { messages = [] } = (await service.get("default", "s")) ?? {};
	const [replaced, by] = messages.slice(-2);
	expect([replaced, by]).toMatchObject([{ role: "assistant" }, { role: "assistant" }]);
	const { id } = replaced as { id: string };
	expect(by).toMatchObject({ replaces: id });
	expect(replaced).not.toHaveProperty("replaces");
	const starts = events.flatMap(({ event }) =>
		event.type === "message_start" && event.role === "assistant" ? [event] : [],
	);
	expect(starts).toEqual([
		{ type: "message_start", role: "assistant" },
		{ type: "message_start", role: "assistant", replaces: id },
	]);
});

test("the result of onError replaces no message, because the failed answer is not in the history", async () => {
	const { events } = await serve([{ error: new Error("broken") }]);
	expect(JSON.stringify(events)).not.toContain("replaces");
});

test("AG-UI names the emitted messages that it replaces before it starts", async () => {
	const { events } = await serve([said]);
	const agUi = new AgUiProjection({ threadId: "t", runId: "r" });
	const emitted = events.flatMap((each) => agUi.add(each));
	const ids = emitted.flatMap((event) => (event.type === "TEXT_MESSAGE_START" ? [event.messageId] : []));
	expect(ids).toHaveLength(2);
	const replaced = emitted.findIndex((event) => event.type === "CUSTOM");
	expect(emitted[replaced]).toEqual({
		type: "CUSTOM",
		name: "messages_replaced",
		value: { messageIds: [ids[0]], replacedBy: ids[1] },
	});
	expect(emitted[replaced + 1]).toMatchObject({ type: "TEXT_MESSAGE_START", messageId: ids[1] });
});

test("a parent gets it as the result of its sub-agent", async () => {
	const model = scriptedModel([
		{ toolCalls: [{ name: "delegate_to_clerk", arguments: { prompt: "Greet." } }] },
		"Done.",
	]);
	const clerk = agent({
		name: "clerk",
		description: "Greets.",
		model: scriptedModel([said]),
		middleware: [signing],
	});
	const parent = agent({ model, host: memoryHost(), subagents: [clerk] });
	await (await parent.session("p").send("Go.")).result();
	expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(signed);
	await parent.close();
});

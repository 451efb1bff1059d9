// What `after` and `onError` of a middleware return, in every stream and history of a served session.
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, createTurn } from "@holdfast/upp";
import { readUIMessageStream, type UIMessage } from "ai";
import { agent, memoryHost } from "holdfast";
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

async function serve(script: Parameters<typeof scriptedModel>[0]) {
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(script), middleware: [signing] },
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
	"what %s returns ends the stream, the history and the tasks of a session",
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

test("useChat and AG-UI show it after what the model said", async () => {
	const { events } = await serve([said]);
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
	const texts = message?.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
	expect(texts).toEqual([said, signed]);
	const agUi = new AgUiProjection({ threadId: "t", runId: "r" });
	const deltas = events
		.flatMap((each) => agUi.add(each))
		.flatMap((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? [event.delta] : []));
	expect(deltas.join("|")).toContain(signed);
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

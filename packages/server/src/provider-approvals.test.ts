// A tool of the provider's that asks first: an approval of ours in every API, answered in the next request.
import { readUIMessageStream, type UIMessage } from "ai";
import { Agent, createSession, execute, memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import { AgUiProjection } from "./ag-ui/ag-ui-projection.ts";
import { ChatProjection } from "./ai-sdk/chat-projection.ts";

const usage = {
	inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };
const call = { type: "tool-call", toolCallId: "m1", toolName: "mcp.erase", providerExecuted: true };
const asking = [
	{ ...call, input: '{"file":"a"}', providerMetadata: { p: { itemId: "i" } } },
	{ type: "tool-approval-request", approvalId: "q1", toolCallId: "m1" },
	finish,
];
const done = [
	{ type: "text-start", id: "1" },
	{ type: "text-delta", id: "1", delta: "Done." },
	{ type: "text-end", id: "1" },
	finish,
];

function streamOf<Item>(items: readonly Item[]): ReadableStream<Item> {
	return new ReadableStream({
		start(controller) {
			for (const item of items) controller.enqueue(item);
			controller.close();
		},
	});
}

function provider(answers: readonly (readonly object[])[] = [asking, done]) {
	const prompts: { role: string; content: unknown }[][] = [];
	const next = (prompt: (typeof prompts)[number]): readonly object[] => {
		prompts.push(prompt);
		return answers[prompts.length - 1] ?? done;
	};
	const model = {
		specificationVersion: "v4",
		provider: "p",
		modelId: "m",
		supportedUrls: {},
		doGenerate: async ({ prompt }: { prompt: (typeof prompts)[number] }) => {
			const content = next(prompt).filter(
				(part) => !["finish", "text-start", "text-end"].includes((part as typeof finish).type),
			);
			return {
				content: content.map((part) => ("delta" in part ? { type: "text", text: part.delta } : part)),
				...finish,
				warnings: [],
			};
		},
		doStream: async ({ prompt }: { prompt: (typeof prompts)[number] }) => ({
			stream: streamOf(next(prompt)),
		}),
	};
	return { model: model as never, prompts };
}

test.each([
	[true, { approved: true }],
	[false, { approved: false, reason: "Not that one." }],
])(
	"it waits as an approval, and the answer %s reaches the provider, also from another process",
	async (_, answer) => {
		const host = memoryHost();
		const { model, prompts } = provider();
		const first = new Agent({ model, host });
		const waiting = await (await first.session("s").send("Erase a.")).result();
		expect(waiting).toMatchObject({
			outcome: "waiting",
			pending: [{ toolCallId: "m1", toolName: "mcp.erase", arguments: { file: "a" }, awaits: "approval" }],
		});
		const later = provider([done]);
		const second = new Agent({ model: later.model, host });
		const run = await second.session("s").answer([{ toolCallId: "m1", ...answer }]);
		expect((await run?.result())?.text).toBe("Done.");
		expect(prompts).toHaveLength(1);
		const [, said, response] = later.prompts[0] ?? [];
		expect(said?.content).toEqual([
			{
				type: "tool-call",
				toolCallId: "m1",
				toolName: "mcp.erase",
				input: { file: "a" },
				providerExecuted: true,
				providerOptions: { p: { itemId: "i" } },
			},
		]);
		expect(response).toMatchObject({
			role: "tool",
			content: [{ type: "tool-approval-response", approvalId: "q1", approved: answer.approved }],
		});
		if (!answer.approved) expect(JSON.stringify(response)).toContain("Not that one.");
	},
);

test("a call that cannot wait refuses, and the provider hears that", async () => {
	const { model, prompts } = provider();
	const { turn } = await new Agent({ model }).generate("Erase a.");
	expect(turn.response.text).toBe("Done.");
	expect(prompts[1]?.at(-1)).toMatchObject({
		role: "tool",
		content: [{ type: "tool-approval-response", approvalId: "q1", approved: false }],
	});
});

test("executions, useChat and AG-UI show it with its id and arguments", async () => {
	const { model } = provider();
	const session = createSession("s", {}, { model, host: memoryHost() });
	const events: LoggedEvent[] = [];
	const stream = execute(session, "Erase a.");
	for await (const event of stream as AsyncIterable<LoggedEvent["event"]>)
		events.push({ id: `${events.length}.0.0`, event });
	const { pendingToolCalls } = await stream.result();
	expect(pendingToolCalls).toMatchObject([
		{ id: "m1", name: "mcp.erase", arguments: { file: "a" }, approval: true },
	]);
	const chat = new ChatProjection();
	const chunks = events.flatMap((event) => chat.add(event));
	let message: UIMessage | undefined;
	for await (const next of readUIMessageStream({ stream: streamOf(chunks) as never })) message = next;
	expect(message?.parts.at(-1)).toMatchObject({
		type: "tool-mcp.erase",
		toolCallId: "m1",
		state: "approval-requested",
		input: { file: "a" },
	});
	const agUi = new AgUiProjection({ threadId: "t", runId: "r" });
	expect(events.flatMap((event) => agUi.add(event))).toContainEqual(
		expect.objectContaining({ type: "TOOL_CALL_START", toolCallId: "m1", toolCallName: "mcp.erase" }),
	);
	const approved = await execute(session, [{ role: "approval", toolCallId: "m1", approved: true }]).result();
	expect(approved.status).toBe("completed");
});

test("a provider tool that the client runs arrives with its id and arguments", async () => {
	const shell = { type: "provider", id: "openai.local_shell", isProviderExecuted: false, args: {} };
	const asked = {
		type: "tool-call",
		toolCallId: "sh_1",
		toolName: "local_shell",
		input: '{"command":["ls"]}',
	};
	const { model, prompts } = provider([[asked, finish], done]);
	const session = createSession("s", { tools: [shell as never] }, { model, host: memoryHost() });
	const stream = execute(session, "List.");
	const events: LoggedEvent[] = [];
	for await (const event of stream as AsyncIterable<LoggedEvent["event"]>)
		events.push({ id: `${events.length}.0.0`, event });
	const pending = { id: "sh_1", name: "local_shell", arguments: { command: ["ls"] } };
	expect((await stream.result()).pendingToolCalls).toMatchObject([pending]);
	const chat = new ChatProjection();
	expect(events.flatMap((event) => chat.add(event))).toContainEqual(
		expect.objectContaining({ type: "tool-input-available", toolCallId: "sh_1", input: pending.arguments }),
	);
	const agUi = new AgUiProjection({ threadId: "t", runId: "r" });
	expect(events.flatMap((event) => agUi.add(event))).toContainEqual(
		expect.objectContaining({ type: "TOOL_CALL_ARGS", toolCallId: "sh_1", delta: '{"command":["ls"]}' }),
	);
	await execute(session, [{ role: "tool", toolCallId: "sh_1", output: "a.txt" }]).result();
	expect(prompts[1]?.at(-1)).toMatchObject({
		role: "tool",
		content: [{ type: "tool-result", toolCallId: "sh_1", toolName: "local_shell" }],
	});
});

// A tool of the provider's that asks first: an approval of ours in every API, answered in the next request.
import { scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { readUIMessageStream, type UIMessage } from "ai";
import { Agent, agent, createSession, execute, memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { fallback, retry } from "holdfast/middleware";
import { describe, expect, test } from "vitest";
import {
	asking,
	askingProvider,
	done,
	finish,
	streamOf,
} from "../../../test/shared/asking-provider.fixture.ts";
import { AgUiProjection } from "./ag-ui/ag-ui-projection.ts";
import { ChatProjection } from "./ai-sdk/chat-projection.ts";

test.each([
	[true, { approved: true }],
	[false, { approved: false, reason: "Not that one." }],
])(
	"it waits as an approval, and the answer %s reaches the provider, also from another process",
	async (_, answer) => {
		const host = memoryHost();
		const { model, prompts } = askingProvider();
		const first = new Agent({ model, host });
		const waiting = await (await first.session("s").send("Erase a.")).result();
		expect(waiting).toMatchObject({
			outcome: "waiting",
			pending: [{ toolCallId: "m1", toolName: "mcp.erase", arguments: { file: "a" }, awaits: "approval" }],
		});
		const later = askingProvider([done]);
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

test("a call that cannot wait is denied, and the provider is notified", async () => {
	const { model, prompts } = askingProvider();
	const { turn } = await new Agent({ model }).generate("Erase a.");
	expect(turn.response.text).toBe("Done.");
	expect(prompts[1]?.at(-1)).toMatchObject({
		role: "tool",
		content: [{ type: "tool-approval-response", approvalId: "q1", approved: false }],
	});
});

test("executions, useChat and AG-UI show it with its id and arguments", async () => {
	const { model } = askingProvider();
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
	const { model, prompts } = askingProvider([[asked, finish], done]);
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

describe("with fallback models", () => {
	const busy = new UPPError("Busy.", "RATE_LIMITED", "p", "llm");
	const approve = [{ toolCallId: "m1", approved: true }] as const;

	test("the answer goes to the provider that asked, even if it is not the first", async () => {
		const first = askingProvider([busy, done], "a");
		const second = askingProvider([asking, done], "b");
		const model = fallback(retry(first.model, { attempts: 1 }), second.model);
		const agent = new Agent({ model, host: memoryHost() });
		const session = agent.session("s");
		expect((await (await session.send("Erase a.")).result()).outcome).toBe("waiting");
		expect((await (await session.answer(approve)).result()).text).toBe("Done.");
		expect([first.prompts.length, second.prompts.length]).toEqual([1, 2]);
		expect(second.prompts[1]?.at(-1)).toMatchObject({
			content: [{ type: "tool-approval-response", approvalId: "q1", approved: true }],
		});
		await agent.close();
	});

	test("no other provider gets the answer if the one that asked fails", async () => {
		const first = askingProvider([asking, busy], "a");
		const second = askingProvider([done], "b");
		const model = fallback(retry(first.model, { attempts: 1 }), second.model);
		const agent = new Agent({ model, host: memoryHost(), modelWait: "never" });
		const session = agent.session("s");
		await (await session.send("Erase a.")).result();
		const ended = await (await session.answer(approve)).result();
		expect(ended).toMatchObject({ outcome: "error", error: { code: "RATE_LIMITED" } });
		expect(second.prompts).toEqual([]);
		await agent.close();
	});

	test("another provider sees an ordinary call that has not run", async () => {
		const host = memoryHost();
		const first = new Agent({ model: askingProvider([asking], "a").model, host });
		await (await first.session("s").send("Erase a.")).result();
		const { model, prompts } = askingProvider([done], "b");
		const second = new Agent({ model, host });
		await (await second.session("s").answer(approve)).result();
		const [, said, result] = prompts[0] ?? [];
		expect(JSON.stringify([said, result])).not.toMatch(/providerExecuted|approval-response/);
		expect(result).toMatchObject({
			role: "tool",
			content: [{ type: "tool-result", toolCallId: "m1", output: { type: "error-text" } }],
		});
		expect(JSON.stringify(result)).toContain("has not run here");
		await first.close();
		await second.close();
	});
});

test.each([
	["approved", true],
	["denied", false],
])("a sub-agent's provider asks through the parent, and is notified that it is %s", async (_, approved) => {
	const child = askingProvider();
	const parent = scriptedModel([
		{ toolCalls: [{ name: "delegate_to_eraser", id: "d", arguments: { prompt: "Erase a." } }] },
		"All done.",
	]);
	const eraser = agent({ name: "eraser", description: "Erases.", model: child.model });
	const host = memoryHost();
	const owner = agent({ model: parent, host, subagents: [eraser] });
	const session = owner.session("s");
	const waiting = await (await session.send("Go.")).result();
	const [pending] = waiting.pending ?? [];
	expect(pending).toMatchObject({
		toolName: "mcp.erase",
		arguments: { file: "a" },
		awaits: "approval",
		path: [{ agent: "eraser", toolCallId: "d" }],
	});
	const run = await session.answer([{ toolCallId: pending?.toolCallId ?? "", approved }]);
	expect((await run.result()).text).toBe("All done.");
	expect(child.prompts[1]?.at(-1)).toMatchObject({
		content: [{ type: "tool-approval-response", approvalId: "q1", approved }],
	});
	await owner.close();
});

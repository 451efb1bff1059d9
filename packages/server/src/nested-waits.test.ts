// Calls of sub-agents that wait, in every stream of the server.
import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { scriptedModel } from "@holdfast/testing";
import {
	DefaultChatTransport,
	lastAssistantMessageIsCompleteWithApprovalResponses,
	type UIMessage,
} from "ai";
import { Agent, tool } from "holdfast";
import { expect, test } from "vitest";
import { type Served, serveScript } from "./served.fixture.ts";
import { until } from "./sse.fixture.ts";

const delegation = { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Erase" } }] };
const nested = "call_0_0/call_0_0";

function serve(): Served & { readonly ran: unknown[] } {
	const ran: unknown[] = [];
	const erase = tool({
		name: "erase",
		description: "Erases.",
		parameters: { type: "object" },
		needsApproval: true,
		run: (input: unknown) => {
			ran.push(input);
			return "erased";
		},
	});
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel([{ toolCalls: [{ name: "erase", arguments: { file: "a" } }] }, "I erased it."]),
		tools: [erase],
	});
	const served = serveScript([], {
		serving: { agent: { model: scriptedModel([delegation, "Well."]), subagents: [helper] } },
	});
	return { ...served, ran };
}

test("a client sees the call of a sub-agent among the pending calls, and answers it", async () => {
	const served = serve();
	const events = await served.run({ sessionId: "s", input: "Erase", context: {} });
	const pending = {
		id: nested,
		name: "erase",
		arguments: { file: "a" },
		approval: true,
		path: [{ agent: "helper", toolCallId: "call_0_0" }],
	};
	expect(events.at(-1)?.event).toMatchObject({ pendingToolCalls: [pending] });
	expect((await served.session("s")).pendingToolCalls).toMatchObject([pending]);
	expect(served.ran).toEqual([]);
	await served.run({ sessionId: "s", input: [{ role: "approval", toolCallId: nested, approved: true }] });
	expect(await served.session("s")).toMatchObject({ status: "completed" });
	expect(served.ran).toEqual([{ file: "a" }]);
	await served.close();
});

test.each([
	[true, { state: "output-available", output: "The sub-agent continued." }],
	[false, { state: "output-denied" }],
])("a page is asked to approve the call of a sub-agent: %s", async (approved, settled) => {
	const served = serve();
	const fetch: typeof globalThis.fetch = (input, options) =>
		served.handler.fetch(new Request(input as string, options));
	const chat = new Chat<UIMessage>({
		id: "chat-1",
		transport: new DefaultChatTransport({ api: "http://localhost/api/chat", fetch }),
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
	});
	const parts = () => (chat.lastMessage?.parts ?? []).filter(({ type }) => type !== "step-start");
	await chat.sendMessage({ text: "Erase" });
	const [delegate, call] = parts();
	expect(delegate).toMatchObject({ type: "tool-delegate_to_helper", providerExecuted: true });
	expect(call).toMatchObject({ type: "tool-erase", state: "approval-requested", input: { file: "a" } });
	const loaded = (await (await served.get("/api/chat/chat-1")).json()) as { messages: UIMessage[] };
	expect(loaded.messages.at(-1)?.parts.at(-1)).toMatchObject({
		toolCallId: nested,
		state: "approval-requested",
	});
	expect(loaded.messages.at(-1)?.parts).toContainEqual(expect.objectContaining({ output: "It waits." }));
	const { approval } = call as { approval: { id: string } };
	await chat.addToolApprovalResponse({ id: approval.id, approved });
	await until("it continues", () => parts().length === 3);
	await until("the chat is ready", () => chat.status === "ready");
	expect(parts().slice(1)).toMatchObject([settled, { type: "text", text: "Well." }]);
	expect(served.ran).toHaveLength(approved ? 1 : 0);
	await served.close();
});

test("an AG-UI front end gets the call of a sub-agent as an interrupt", async () => {
	const served = serve();
	const agent = new HttpAgent({
		url: "http://localhost/api/ag-ui",
		threadId: "thread-1",
		fetch: (url, init) => served.handler.fetch(new Request(url, init)),
	});
	agent.addMessage({ id: "m", role: "user", content: "Erase" });
	const shown: string[] = [];
	const onEvent = ({ event }: { event: object }): void => {
		const { type, toolCallName } = event as { type: string; toolCallName?: string };
		if (type === "TOOL_CALL_START") shown.push(toolCallName ?? "");
	};
	await agent.runAgent({}, { onEvent });
	expect(shown).toEqual(["delegate_to_helper", "erase"]);
	expect(agent.pendingInterrupts).toMatchObject([{ toolCallId: nested, reason: "tool_approval" }]);
	const interruptId = agent.pendingInterrupts[0]?.id ?? "";
	await agent.runAgent({ resume: [{ interruptId, status: "resolved", payload: { approved: true } }] });
	expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "Well." });
	expect(served.ran).toHaveLength(1);
	await served.close();
});

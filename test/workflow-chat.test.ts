// A workflow behind useChat and AG-UI: its input, its questions and those of its child, its result, and pages opened again.
import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import type { UIMessage } from "ai";
import type { AgentOptions } from "holdfast";
import { workflow } from "holdfast/workflow";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { onSqlite, type Served, serve } from "./matrix/serve.fixture.ts";

/** Asks twice, and its child once more. */
function refund(): AgentOptions {
	const child = workflow({ name: "check" }, async (flow, { amount }: { amount: number }) => {
		await flow.sleep(2);
		return flow.approve("check", { amount });
	});
	const options = { name: "refund", input: z.object({ amount: z.number() }), workflows: [child] };
	const made = workflow(options, async (flow, { amount }) => {
		const isPaid = await flow.approve("refund", { amount });
		const why = await flow.ask<string>("Why?");
		const isChecked = await flow.child(child, { amount });
		return { isPaid, why, isChecked };
	});
	return { ...made.agent } as AgentOptions;
}

function started(): Served {
	const served = serve(refund, onSqlite());
	onTestFinished(() => served.close());
	return served;
}

type Part = {
	readonly type: string;
	readonly state?: string;
	readonly toolCallId?: string;
	readonly approval?: { readonly id: string };
	readonly text?: string;
};

function page({ fetch }: Served, messages: UIMessage[] = []) {
	const transport = new HoldfastChatTransport<UIMessage>({
		url: "http://localhost",
		fetch,
		reconnectDelayMs: 1,
	});
	const chat = new Chat<UIMessage>({ id: "s", transport, messages });
	const parts = (): readonly Part[] => (chat.lastMessage?.parts ?? []) as readonly Part[];
	const waiting = (): Part | undefined =>
		parts().find(({ state }) => state === "approval-requested" || state === "input-available");
	const answer = async (): Promise<void> => {
		const { state, approval, toolCallId = "" } = waiting() ?? {};
		if (state === "approval-requested")
			await chat.addToolApprovalResponse({ id: approval?.id ?? "", approved: true });
		else await chat.addToolOutput({ tool: "workflow_ask", toolCallId, output: "Broken." });
		await chat.sendMessage();
	};
	return { chat, parts, waiting, answer };
}

async function loaded({ fetch }: Served): Promise<UIMessage[]> {
	const answer = await fetch("http://localhost/api/chat/s");
	return ((await answer.json()) as { messages: UIMessage[] }).messages;
}

const result = JSON.stringify({ isPaid: true, why: "Broken.", isChecked: true });

test("a page of useChat starts a workflow, answers it and its child, and shows its result", async () => {
	const served = started();
	const { chat, parts, answer } = page(served);
	await chat.sendMessage({ text: '{"amount":5}' });
	for (let at = 0; at < 3; at++) await answer();
	expect(chat.error).toBeUndefined();
	expect(chat.status).toBe("ready");
	expect(parts().filter(({ type }) => type === "text")).toMatchObject([{ text: result }]);
	expect(parts().filter(({ type }) => type.startsWith("tool-"))).toMatchObject([
		{ type: "tool-workflow_approve", input: { name: "refund" }, state: "output-available", output: "true" },
		{ type: "tool-workflow_ask", input: { question: "Why?" }, state: "output-available", output: "Broken." },
		{ type: "tool-workflow_approve", input: { name: "check" }, state: "output-available" },
	]);
	expect((await loaded(served)).at(-1)?.parts).toMatchObject([{ type: "step-start" }, { text: result }]);
});

test("after a restart before each answer, a page opened again shows what a workflow waits for and answers it", async () => {
	const served = started();
	await page(served).chat.sendMessage({ text: '{"amount":5}' });
	const asked: unknown[] = [];
	for (let at = 0; at < 3; at++) {
		await served.restart();
		const opened = page(served, await loaded(served));
		asked.push((opened.waiting() as { readonly input?: unknown } | undefined)?.input);
		await opened.answer();
		expect(opened.chat.error).toBeUndefined();
	}
	expect(asked).toEqual([
		{ name: "refund", details: { amount: 5 } },
		{ question: "Why?", details: null },
		{ name: "check", details: { amount: 5 } },
	]);
	expect((await loaded(served)).at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: result });
});

test("a page of useChat shows why an input of a workflow was refused", async () => {
	const { chat } = page(started());
	await chat.sendMessage({ text: "five" });
	expect(chat.error?.message).toContain("its schema `input` rejects");
});

test("a front end of AG-UI starts a workflow, answers it across a restart, and receives its result", async () => {
	const served = started();
	const agent = new HttpAgent({ url: "http://localhost/api/ag-ui", threadId: "s", fetch: served.fetch });
	agent.addMessage({ id: "m", role: "user", content: '{"amount":5}' });
	const interrupts: string[] = [];
	const calls: string[] = [];
	const run = (parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) =>
		agent.runAgent(parameters, {
			onToolCallEndEvent: ({ event, toolCallName }) => {
				if (toolCallName === "workflow_ask") calls.push(event.toolCallId);
			},
		});
	const approve = async (): Promise<void> => {
		const [{ id: interruptId } = { id: "" }] = agent.pendingInterrupts;
		interrupts.push(interruptId);
		await run({ resume: [{ interruptId, status: "resolved", payload: true }] });
	};
	await run();
	await served.restart();
	await approve();
	await served.restart();
	agent.addMessage({ id: "t", role: "tool", toolCallId: calls[0] ?? "", content: "Broken." });
	await run();
	await approve();
	expect(interrupts).toHaveLength(2);
	expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: result });
});

// The features of the matrix in threads: what the models answer, and what must have come of it. To add one, add an entry.
import {
	defineHook,
	type HookDefinition,
	ProviderError,
	type ThreadState,
	type Threads,
	type ThreadsOptions,
} from "@holdfast/threads";
import { definePlugin } from "holdfast/plugins";
import { expect } from "vitest";
import { doubling } from "./features.fixture.ts";

/** What a model answers. */
export interface ThreadReply {
	readonly text?: string;
	readonly calls?: readonly (readonly [name: string, id: string, args: Record<string, unknown>])[];
	readonly error?: Error;
	/** Whether the token limit cut it off. */
	readonly length?: true;
}

/** What came of a feature. */
interface ThreadCame {
	/** Inputs that the tool was called with, in order. */
	readonly ran: readonly unknown[];
	/** The first word of each message of the thread, with the names of its calls. */
	readonly said: readonly string[];
}

export interface ThreadFeature {
	readonly name: string;
	readonly turns: number;
	/** What is answered to each agent or prompt, in order, over all deployments of a cell. */
	readonly scripts: Readonly<Record<string, readonly (string | ThreadReply)[]>>;
	/** What the first agent may call. Default: the tool `act` alone. */
	readonly main?: readonly unknown[];
	/** The other agents, and what they may call. */
	readonly agents?: Readonly<Record<string, readonly unknown[]>>;
	/** Prompts that are called as tools. */
	readonly prompts?: readonly string[];
	readonly hooks?: readonly HookDefinition[];
	readonly options?: Partial<ThreadsOptions>;
	/** What the tool does beside writing down its input. */
	run?(state: ThreadState, input: { readonly n: number }, ran: readonly unknown[]): unknown;
	/** What the first turn waits for when something is done, and when the process is restarted. */
	readonly waitsFor?: "provider" | "call";
	/** What is done while the first turn waits. */
	aside?(threads: Threads, threadId: string, ran: unknown[]): Promise<unknown>;
	afterTurn?(threads: Threads, threadId: string): Promise<unknown>;
	readonly expected: ThreadCame;
	/** What is expected where the process was restarted while it waited. Default: the same; `null`: it is not restarted then. */
	readonly restarted?: ThreadCame | null;
}

export const call = (id: string, args: Record<string, unknown>, name = "act"): ThreadReply => ({
	calls: [[name, id, args]],
});
export const to = (name: string, id = "d"): ThreadReply => call(id, { message: "go" }, name);
export const busy = (retryAfterMs?: number): ThreadReply => ({
	error: new ProviderError("Busy.", "rate_limit", 429, retryAfterMs),
});
/** A provider that comes back too late for a test. */
export const gone = busy(3_600_000);
export const one = {
	ran: [{ n: 1 }],
	said: ["user: turn", "assistant: <act>", "tool: did", "assistant: done"],
};
const blocking = definePlugin({
	name: "blocking",
	setup: (on) => void on.on("tool.call", () => ({ action: "reject-and-continue", message: "No." })),
});
/** Never ends; the first call alone waits. */
function neverEnds(_: ThreadState, { n }: { readonly n: number }): Promise<void> | undefined {
	return n === 1 ? new Promise(() => {}) : undefined;
}

/** Changes what was said first. */
async function edit(threads: Threads, threadId: string): Promise<void> {
	const state = await threads.get(threadId);
	const [first] = (await state?.getMessages())?.messages ?? [];
	await state?.updateMessage(first?.id ?? "", { content: "edited" });
}

export const threadFeatures: readonly ThreadFeature[] = [
	{
		name: "a call",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		expected: one,
	},
	{
		name: "two calls at once",
		turns: 1,
		scripts: {
			main: [
				{
					calls: [
						["act", "c", { n: 1 }],
						["act", "d", { n: 2 }],
					],
				},
				"done",
			],
		},
		expected: {
			ran: [{ n: 1 }, { n: 2 }],
			said: ["user: turn", "assistant: <act> <act>", "tool: did", "tool: did", "assistant: done"],
		},
	},
	{
		name: "one id twice in one answer of the model",
		turns: 1,
		scripts: {
			main: [
				{
					calls: [
						["act", "c", { n: 1 }],
						["act", "c", { n: 2 }],
					],
				},
				"done",
			],
		},
		expected: {
			ran: [{ n: 1 }, { n: 2 }],
			said: ["user: turn", "assistant: <act> <act>", "tool: did", "tool: did", "assistant: done"],
		},
	},
	{
		name: "an id that is repeated in the next round",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), call("c", { n: 2 }), "done"] },
		expected: {
			ran: [{ n: 1 }, { n: 2 }],
			said: [
				"user: turn",
				"assistant: <act>",
				"tool: did",
				"assistant: <act>",
				"tool: did",
				"assistant: done",
			],
		},
	},
	{
		name: "an id that is repeated in the next turn",
		turns: 2,
		scripts: { main: [call("c", { n: 1 }), "done", call("c", { n: 2 }), "done"] },
		expected: { ran: [{ n: 1 }, { n: 2 }], said: [...one.said, ...one.said] },
	},
	{
		name: "a call that the token limit cut off",
		turns: 1,
		scripts: { main: [{ ...call("c", {}), length: true }, "done"] },
		expected: { ran: [], said: ["user: turn", "assistant: <act>", "tool: The", "assistant: done"] },
	},
	{
		name: "the second of two calls that the token limit cut off",
		turns: 1,
		scripts: {
			main: [
				{
					calls: [
						["act", "c", { n: 1 }],
						["act", "d", {}],
					],
					length: true,
				},
				"done",
			],
		},
		expected: {
			ran: [{ n: 1 }],
			said: ["user: turn", "assistant: <act> <act>", "tool: did", "tool: The", "assistant: done"],
		},
	},
	{
		name: "arguments that the schema refuses",
		turns: 1,
		scripts: { main: [call("c", { n: "one" }), "done"] },
		expected: { ...one, ran: [], said: ["user: turn", "assistant: <act>", "tool: The", "assistant: done"] },
	},
	{
		name: "a tool that is unknown",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }, "other"), "done"] },
		expected: { ran: [], said: ["user: turn", "assistant: <other>", "tool: There", "assistant: done"] },
	},
	{
		name: "a tool that throws",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		run: () => Promise.reject(new Error("broken")),
		expected: { ...one, said: ["user: turn", "assistant: <act>", "tool: broken", "assistant: done"] },
	},
	{
		name: "an input that a plugin modifies",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		options: { plugins: [doubling] },
		expected: { ...one, ran: [{ n: 2 }] },
	},
	{
		name: "a call that a plugin denies",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		options: { plugins: [blocking] },
		expected: { ran: [], said: ["user: turn", "assistant: <act>", "tool: No.", "assistant: done"] },
	},
	{
		name: "a message that a hook changes",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		hooks: [
			defineHook({
				hook: "before_create_message",
				id: "hear",
				execute: (_, message) => (message.role === "user" ? { ...message, content: "heard" } : message),
			}),
		],
		expected: { ...one, said: ["user: heard", ...one.said.slice(1)] },
	},
	{
		name: "a result that a hook changes",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		hooks: [
			defineHook({
				hook: "before_store_tool_result",
				id: "check",
				execute: (_, __, result) => ({ ...result, result: "checked" }),
			}),
		],
		expected: { ...one, said: ["user: turn", "assistant: <act>", "tool: checked", "assistant: done"] },
	},
	{
		name: "a provider that is busy at first",
		turns: 1,
		scripts: { main: [busy(), call("c", { n: 1 }), "done"] },
		waitsFor: "provider",
		expected: one,
	},
	{
		name: "a provider that is busy after a call",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), busy(), busy(), "done"] },
		waitsFor: "provider",
		expected: one,
	},
	{
		name: "a provider that is busy in each of two turns",
		turns: 2,
		scripts: { main: [busy(), "done", busy(), call("c", { n: 1 }), "done"] },
		waitsFor: "provider",
		expected: { ...one, said: ["user: turn", "assistant: done", ...one.said] },
	},
	{
		name: "one id on both sides of a wait for the provider",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), busy(), call("c", { n: 2 }), "done"] },
		waitsFor: "provider",
		expected: {
			ran: [{ n: 1 }, { n: 2 }],
			said: [
				"user: turn",
				"assistant: <act>",
				"tool: did",
				"assistant: <act>",
				"tool: did",
				"assistant: done",
			],
		},
	},
	{
		name: "a stop during a wait for the provider",
		turns: 2,
		scripts: { main: [gone, call("c", { n: 1 }), "done"] },
		waitsFor: "provider",
		aside: (threads, threadId) => threads.stop(threadId),
		expected: { ...one, said: ["user: turn", ...one.said] },
	},
	{
		name: "a message during a wait for the provider",
		turns: 1,
		scripts: { main: [gone, call("c", { n: 1 }), "done"] },
		waitsFor: "provider",
		aside: (threads, threadId) => threads.queueMessage(threadId, { content: "hurry" }),
		expected: { ...one, said: ["user: turn", "user: hurry", ...one.said.slice(1)] },
	},
	{
		name: "an edit during a wait for the provider",
		turns: 1,
		scripts: { main: [busy(), call("c", { n: 1 }), "done"] },
		waitsFor: "provider",
		aside: edit,
		expected: { ...one, said: ["user: edited", ...one.said.slice(1)] },
	},
	{
		name: "the end of a thread during a wait for the provider",
		turns: 1,
		scripts: { main: [gone, "done"] },
		waitsFor: "provider",
		aside: (threads, threadId) => threads.terminate(threadId),
		expected: { ran: [], said: ["user: turn"] },
	},
	{
		name: "a stop while a call runs",
		turns: 2,
		scripts: { main: [call("c", { n: 1 }), call("c", { n: 2 }), "done"] },
		run: neverEnds,
		waitsFor: "call",
		aside: (threads, threadId) => threads.stop(threadId),
		expected: {
			ran: [{ n: 1 }, { n: 2 }],
			said: ["user: turn", "assistant: <act>", "tool: The", ...one.said],
		},
		// How far the execution comes before it is stopped depends on the time.
		restarted: null,
	},
	{
		name: "a message while a call runs",
		turns: 1,
		scripts: { main: [call("c", { n: 1 }), "done"] },
		run: async (_, __, ran) => expect.poll(() => ran.length).toBe(2),
		waitsFor: "call",
		async aside(threads, threadId, ran) {
			await threads.queueMessage(threadId, { content: "hurry" });
			ran.push("hurry");
		},
		expected: {
			ran: [{ n: 1 }, "hurry"],
			said: ["user: turn", "assistant: <act>", "tool: did", "user: hurry", "assistant: done"],
		},
		// The outcome of a call that was cut off is not known.
		restarted: {
			ran: [{ n: 1 }, "hurry"],
			said: ["user: turn", "assistant: <act>", "tool: The", "user: hurry", "assistant: done"],
		},
	},
	{
		name: "a deleted message with calls",
		turns: 2,
		scripts: { main: [call("c", { n: 1 }), "done", "fine"] },
		async afterTurn(threads, threadId) {
			const state = await threads.get(threadId);
			const messages = (await state?.getMessages())?.messages ?? [];
			const calling = messages.find(({ tool_calls }) => tool_calls !== null);
			if (calling !== undefined) await state?.deleteMessage(calling.id);
		},
		expected: { ran: [{ n: 1 }], said: ["user: turn", "assistant: done", "user: turn", "assistant: fine"] },
	},
	{
		name: "a prompt that is called as a tool",
		turns: 1,
		scripts: { main: [to("summary_prompt"), "done"], summary: ["short"] },
		main: ["summary_prompt"],
		prompts: ["summary"],
		expected: {
			ran: [],
			said: ["user: turn", "assistant: <summary_prompt>", "tool: short", "assistant: done"],
		},
	},
	{
		name: "an agent that takes over",
		turns: 1,
		scripts: { main: [to("worker")], worker: [call("c", { n: 1 }), "done"] },
		main: ["worker"],
		agents: { worker: ["act"] },
		expected: {
			...one,
			said: [
				"user: turn",
				"assistant: <worker>",
				"tool: The",
				"assistant: <act>",
				"tool: did",
				"assistant: done",
			],
		},
	},
];

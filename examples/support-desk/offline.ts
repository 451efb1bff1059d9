// A model of a few rules, so that the desk runs without a key and behaves the same each time. Replace it with a real one in
// agents/models/desk.ts.
import type { ProviderFactory, ProviderMessage, ProviderRequest, ProviderResponse } from "@holdfast/threads";

interface Said {
	readonly text?: string;
	readonly call?: readonly [name: string, args: Record<string, unknown>];
}

const order = "A-7";

export const offline: ProviderFactory = () => ({
	name: "offline",
	specificationVersion: "1",
	async generate(request) {
		return answer(request);
	},
	async *stream(request) {
		const { content, toolCalls = [], usage, finishReason } = answer(request);
		if (content !== null) yield { type: "content-delta", delta: content };
		for (const { id, name, arguments: args } of toolCalls) {
			yield { type: "tool-call-start", id, name };
			yield { type: "tool-call-done", id, arguments: args };
		}
		yield { type: "finish", finishReason, usage };
	},
});

function answer({ messages }: ProviderRequest): ProviderResponse {
	const { text, call } = saidTo(messages);
	return {
		content: text ?? null,
		toolCalls:
			call === undefined ? [] : [{ id: `call_${messages.length}`, name: call[0], arguments: call[1] }],
		finishReason: call === undefined ? "stop" : "tool_calls",
		usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 },
	};
}

function saidTo(messages: readonly ProviderMessage[]): Said {
	const prompt = textOf(messages[0]);
	const user = messages.findLastIndex(({ role }) => role === "user");
	const results = messages.slice(user + 1).filter(({ role }) => role === "tool");
	const last = textOf(results.at(-1));
	if (prompt.includes("front desk")) {
		if (/refund/i.test(textOf(messages[user]))) return { call: ["billing", {}] };
		return { text: "How can I help?" };
	}
	if (prompt.includes("draft replies")) return { text: `We refund your order ${order}.` };
	if (prompt.includes("review drafts"))
		return { call: ["approve_reply", { reply: `We refund your order ${order}.` }] };
	if (textOf(messages[user]).includes("is approved"))
		return last.includes("Refunded")
			? { text: `Refunded ${order}. Good-bye.` }
			: { call: ["refund", { order }] };
	if (last.includes("needs approval")) return { text: `Your refund of ${order} waits for approval.` };
	const names = messages
		.slice(user + 1)
		.flatMap((each) => ("toolCalls" in each ? (each.toolCalls ?? []) : []));
	const done = (name: string): boolean => names.some((each) => each.name === name);
	if (!done("receipt")) return { call: ["receipt", { order }] };
	if (!done("review")) return { call: ["review", { message: `A reply about order ${order}` }] };
	return { call: ["refund", { order }] };
}

function textOf(message: ProviderMessage | undefined): string {
	const content = (message as { readonly content?: unknown } | undefined)?.content;
	return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}

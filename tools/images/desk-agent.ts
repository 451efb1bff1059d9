// The agent in the recording of the chat and in the screenshots of the inspector: a shop's support desk. A few rules take
// the place of a language model, so every recording shows the same conversation.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage, isUserMessage, type Message } from "@holdfast/upp";
import { Agent, type AgentOptions, tool } from "holdfast";
import { z } from "zod";

const orders: Readonly<Record<string, { readonly item: string; readonly euros: number }>> = {
	"A-7": { item: "headphones", euros: 89 },
	"A-8": { item: "desk lamp", euros: 34 },
	"A-9": { item: "keyboard", euros: 129 },
};

/** The model's id, which prices are listed under. */
const modelId = "rules-1";

/** How the model behaves in time. */
export interface DeskTiming {
	/** Awaited before the model answers. */
	readonly beforeReply?: () => unknown;
	/** Awaited before each word of an answer. */
	readonly beforeWord?: () => unknown;
	/** Awaited when a tool runs. */
	readonly inTool?: () => unknown;
}

/** Returns the options of the agent. */
export function deskOptions({ beforeReply, beforeWord, inTool }: DeskTiming = {}): AgentOptions {
	const findOrder = tool({
		name: "find_order",
		description: "Returns an order by its number.",
		parameters: z.object({ order: z.string() }),
		retryPolicy: "pure",
		run: async ({ order }) => {
			await inTool?.();
			const found = orders[order];
			if (found === undefined) throw new Error(`There is no order ${order}.`);
			return found;
		},
	});
	const refund = tool({
		name: "refund",
		description: "Refunds an order.",
		parameters: z.object({ order: z.string(), euros: z.number() }),
		needsApproval: true,
		retryPolicy: "idempotent",
		run: async ({ order, euros }) => {
			await inTool?.();
			return { refunded: euros, receipt: `R-${order}` };
		},
	});
	const model = scriptedModel(
		async ({ messages }) => {
			await beforeReply?.();
			const reply = replyTo(messages);
			const words = Math.ceil(JSON.stringify(messages).length / 4);
			const outputTokens = Math.ceil(JSON.stringify(reply).length / 4);
			return {
				...reply,
				usage: { inputTokens: words, outputTokens, totalTokens: words + outputTokens },
				...(beforeWord === undefined ? {} : { beforeDelta: beforeWord }),
			};
		},
		{ modelId },
	);
	return {
		name: "support-desk",
		model,
		system:
			"You work at the support desk of a shop. Find the order first. Refund only what the customer paid.",
		tools: [findOrder, refund],
		prices: { [modelId]: { input: 1, output: 4 } },
	};
}

function replyTo(messages: readonly Message[]): ScriptedReply {
	const asked = messages.findLast(isUserMessage)?.text ?? "";
	const results = messages
		.slice(messages.findLastIndex(isUserMessage) + 1)
		.filter(isToolResultMessage)
		.flatMap((message) => message.results);
	const order = /[A-Z]-\d+/.exec(asked)?.[0];
	if (order === undefined) return { text: "Which order is it? I need its number, such as A-7." };
	const [found, refunded] = results;
	if (found === undefined)
		return { text: "I look up the order first.", toolCalls: [{ name: "find_order", arguments: { order } }] };
	if (found.isError === true) return { text: `I can't find order ${order}. Please check its number.` };
	const { item, euros } = found.result as { item: string; euros: number };
	if (!asked.toLowerCase().includes("refund"))
		return { text: `Order ${order} is the **${item}**, paid with €${euros}.` };
	if (refunded === undefined)
		return { text: `It is the ${item}.`, toolCalls: [{ name: "refund", arguments: { order, euros } }] };
	if (refunded.isError === true) return { text: `I didn't refund the ${item}: ${String(refunded.result)}` };
	return { text: `Done. **€${euros}** for the ${item} are on their way.\n\nYour receipt is R-${order}.` };
}

const pause = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms));

/** The agent of `holdfast chat --agent`, at the speed of a quick model. */
export default new Agent(deskOptions({ beforeReply: pause(500), beforeWord: pause(60), inTool: pause(300) }));

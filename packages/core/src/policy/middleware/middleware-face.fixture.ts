// Contexts, results and histories for the tests of middlewares.
import {
	AssistantMessage,
	createTurn,
	type Message,
	type TokenUsage,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { AgentState } from "../../state/agent-state.ts";
import type { GenerateResult } from "../../state/generate-result.ts";
import { RunMetadata } from "../run-metadata.ts";
import type { Middleware, MiddlewareContext } from "./middleware-face.ts";

/** A context of a call with a history. */
export function contextOf(
	messages: readonly Message[] = [],
	change: Partial<MiddlewareContext> = {},
): MiddlewareContext {
	return {
		agent: { id: "agent-1", name: "clerk" },
		input: new UserMessage("the secret question"),
		state: AgentState.initial().withContext(messages),
		metadata: new RunMetadata(),
		...change,
	};
}

/** A result whose answer is a text. */
export function resultOf(
	text: string,
	state: AgentState = AgentState.initial(),
	usage: TokenUsage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
): GenerateResult {
	const turn = createTurn({ messages: [new AssistantMessage(text)], usage, cycles: 1 });
	return { turn, state };
}

/** The history after the `before` of the middlewares, one after the other. */
export async function historyAfter(
	context: MiddlewareContext,
	...list: readonly Middleware[]
): Promise<readonly Message[]> {
	let current = context;
	for (const middleware of list)
		current = ((await middleware.before?.(current)) || current) as MiddlewareContext;
	return current.state.messages;
}

/** A round of tools: calls, and a message with their results. */
export function toolRound(ids: readonly string[], result: unknown): readonly Message[] {
	const calls = ids.map((id) => ({ toolCallId: id, toolName: "read", arguments: { id } }));
	return [
		new AssistantMessage("", calls),
		new ToolResultMessage(ids.map((toolCallId) => ({ toolCallId, result }))),
	];
}

/** The ids of results whose call is not before them. */
export function orphans(messages: readonly Message[]): readonly string[] {
	const called = new Set<string>();
	const found: string[] = [];
	for (const message of messages) {
		if (message instanceof AssistantMessage) {
			for (const call of message.toolCalls ?? []) called.add(call.toolCallId);
		}
		if (message instanceof ToolResultMessage) {
			for (const { toolCallId } of message.results) if (!called.has(toolCallId)) found.push(toolCallId);
		}
	}
	return found;
}

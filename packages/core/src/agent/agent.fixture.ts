// Shared by the tests of agents: small tools, a model that never answers, and readable views of histories.
import {
	AssistantMessage,
	type BoundLLMModel,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type Message,
	type ModelReference,
	ToolResultMessage,
} from "@holdfast/upp";
import type { AgentStreamEvent, UAPEventType } from "../engine/uap-events.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";

/** A tool that accepts anything. */
export function anyTool(
	name: string,
	run: (params: Record<string, unknown>, context: ToolContext) => unknown,
	options: Partial<AnyTool> = {},
): AnyTool {
	return { name, description: `Does ${name}.`, parameters: { type: "object" }, run, ...options };
}

/** A history as short lines: `user: text`, `assistant: text [call, …]`, `results: a, b!` (an exclamation mark: error). */
export function lines(messages: readonly Message[]): string[] {
	return messages.map((message) => {
		if (message instanceof ToolResultMessage) {
			const results = message.results.map(({ result, isError }) => `${result}${isError ? "!" : ""}`);
			return `results: ${results.join(", ")}`;
		}
		if (message instanceof AssistantMessage) {
			const calls = (message.toolCalls ?? []).map((call) => call.toolName);
			return `assistant: ${message.text}${calls.length === 0 ? "" : ` [${calls.join(", ")}]`}`;
		}
		return `user: ${(message as { text?: string }).text}`;
	});
}

/** A history without what differs between runs: message ids and times. */
export function withoutIdentity(messages: readonly Message[]): unknown {
	return messages.map((message) => {
		const { id: _, timestamp: __, ...rest } = message as unknown as Record<string, unknown>;
		return rest;
	});
}

/** The content of a state, without ids and times. */
export function contentOf(state: AgentState): unknown {
	const { step, reasoning, plan, metadata, usage } = state;
	return { messages: withoutIdentity(state.messages), step, reasoning, plan, metadata, usage };
}

/** Reads a stream to its end. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
	const events: T[] = [];
	for await (const event of stream) events.push(event);
	return events;
}

/** The kinds of events in order: UAP's by their type, the model layer's as `upp:type`. */
export function kinds(events: readonly AgentStreamEvent[]): string[] {
	return events.map((event) => (event.source === "uap" ? event.uap.type : `upp:${event.upp.type}`));
}

/** Data of the UAP events of one type. */
export function dataOf(events: readonly AgentStreamEvent[], type: UAPEventType): unknown[] {
	return events.flatMap((event) =>
		event.source === "uap" && event.uap.type === type ? [event.uap.data] : [],
	);
}

/** A model made of functions; missing ones throw. */
export function modelOf(
	handlers: Partial<Pick<BoundLLMModel, "complete" | "stream">>,
	capabilities: Partial<BoundLLMModel["capabilities"]> = {},
): ModelReference {
	const unused = (): never => {
		throw new Error("this model was not made for that");
	};
	// A model that streams need not do anything else.
	const complete = handlers.complete ?? (handlers.stream === undefined ? unused : undefined);
	const bound: BoundLLMModel = {
		modelId: "made-up",
		capabilities: {
			streaming: handlers.stream !== undefined,
			tools: true,
			structuredOutput: true,
			imageInput: true,
			videoInput: true,
			audioInput: true,
			...capabilities,
		},
		complete: complete as BoundLLMModel["complete"],
		stream: handlers.stream ?? unused,
	};
	const provider = createProvider({ name: "made", version: "1", modalities: { llm: { bind: () => bound } } });
	return provider("made-up");
}

/** A model that never answers and ignores signals; `asked` resolves with its first request. */
export function deafModel(): { model: ModelReference; asked: Promise<LLMRequest> } {
	const asked = Promise.withResolvers<LLMRequest>();
	const model = modelOf({
		stream(request) {
			asked.resolve(request);
			const never = new Promise<never>(() => {});
			return { response: never, [Symbol.asyncIterator]: () => ({ next: () => never }) };
		},
	});
	return { model, asked: asked.promise };
}

/** An answer of the model layer. */
export function answer(message: AssistantMessage): LLMResponse {
	const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
	return { message, usage, stopReason: message.hasToolCalls ? "tool_calls" : "stop" };
}

// A rule-based model, so that the project runs without a key: it adds the numbers of a message, stores notes that start
// with "note", and reports the results of its tools.
import type {
	ProviderInstance,
	ProviderRequest,
	ProviderResponse,
	ProviderStreamChunk,
	ProviderToolCallPart,
} from "@holdfast/threads";

function answer({ messages }: ProviderRequest): ProviderResponse {
	const last = messages.at(-1);
	const id = `call_${messages.length}`;
	if (last?.role === "tool") return say(`The tool ${last.toolName} says: ${textOf(last.content)}`);
	const text = last?.role === "user" ? textOf(last.content) : "";
	const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
	if (numbers.length > 1) return call({ id, name: "add", arguments: { numbers } });
	const note = /^note:?\s+(.+)/is.exec(text)?.[1];
	if (note !== undefined) return call({ id, name: "note", arguments: { text: note } });
	return say('I am a model that follows a few fixed rules. Ask me "What is 2 + 3?" or say "note: buy milk".');
}

function textOf(content: unknown): string {
	return typeof content === "string" ? content : JSON.stringify(content);
}

const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };

function say(content: string): ProviderResponse {
	return { content, finishReason: "stop", usage };
}

function call(toolCall: ProviderToolCallPart): ProviderResponse {
	return { content: null, toolCalls: [toolCall], finishReason: "tool_calls", usage };
}

async function* stream(request: ProviderRequest): AsyncGenerator<ProviderStreamChunk> {
	const { content, toolCalls = [], finishReason } = answer(request);
	for (const delta of content?.match(/\S+\s*/g) ?? []) yield { type: "content-delta", delta };
	for (const { id, name, arguments: args } of toolCalls) {
		yield { type: "tool-call-start", id, name };
		yield { type: "tool-call-done", id, arguments: args };
	}
	yield { type: "finish", finishReason, usage };
}

export default function offline(): ProviderInstance {
	return {
		name: "offline",
		specificationVersion: "1",
		generate: async (request) => answer(request),
		stream,
	};
}

// TanStack AI: `chat` with an adapter of one's own; it streams always. Conversations keep their messages, as its users do.
import { chat, maxIterations, streamToText, toolDefinition } from "@tanstack/ai";
import { result, words } from "./shared.js";

const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const about = { model: "at-once", timestamp: 0, runId: "run", threadId: "thread" };

const adapterOf = (chatStream) => ({
	kind: "text",
	name: "stub",
	model: "at-once",
	"~types": {},
	chatStream,
	structuredOutput: async () => ({ data: {}, rawText: "{}" }),
});

const answering = (decide) =>
	adapterOf(async function* ({ messages }) {
		const next = decide(messages, ({ role }) => role === "tool");
		yield { type: "RUN_STARTED", ...about };
		if (typeof next === "string") {
			yield { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", ...about };
			yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: next, ...about };
			yield { type: "TEXT_MESSAGE_END", messageId: "m", ...about };
			yield { type: "RUN_FINISHED", finishReason: "stop", usage, ...about };
		} else {
			const call = { toolCallId: `call-${next}`, toolCallName: "look", toolName: "look", ...about };
			yield { type: "TOOL_CALL_START", index: 0, ...call };
			yield { type: "TOOL_CALL_ARGS", delta: "{}", ...call };
			yield { type: "TOOL_CALL_END", input: {}, ...call };
			yield { type: "RUN_FINISHED", finishReason: "tool_calls", usage, ...about };
		}
	});

const talking = (count) =>
	adapterOf(async function* () {
		yield { type: "RUN_STARTED", ...about };
		yield { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", ...about };
		for (const delta of words(count)) yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta, ...about };
		yield { type: "TEXT_MESSAGE_END", messageId: "m", ...about };
		yield { type: "RUN_FINISHED", finishReason: "stop", usage, ...about };
	});

const look = (ran) =>
	toolDefinition({
		name: "look",
		description: "Looks at one thing.",
		inputSchema: { type: "object", properties: {} },
	}).server(async () => {
		ran();
		return result;
	});

const asked = { role: "user", content: "Look." };

export function looper(decide, ran) {
	const [adapter, tools] = [answering(decide), [look(ran)]];
	return () =>
		streamToText(chat({ adapter, tools, messages: [asked], agentLoopStrategy: maxIterations(1_000_000) }));
}

export function streamer(count) {
	const adapter = talking(count);
	return async function* () {
		for await (const chunk of chat({ adapter, messages: [asked] }))
			if (chunk.type === "TEXT_MESSAGE_CONTENT") yield chunk.delta;
	};
}

export function conversations(decide, ran) {
	const [adapter, tools] = [answering(decide), [look(ran)]];
	const kept = new Map();
	return async (at) => {
		const messages = [...(kept.get(at) ?? []), asked];
		const text = await streamToText(chat({ adapter, tools, messages }));
		// Its calls are not handed back by `chat`: what is kept is what was said.
		kept.set(at, [...messages, { role: "assistant", content: text }]);
		return text;
	};
}

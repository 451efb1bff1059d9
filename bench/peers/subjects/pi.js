// pi: `Agent`, which keeps its conversation. Its loop reads the stream of a model.
import { Agent } from "@mariozechner/pi-agent-core";
import { Type } from "@mariozechner/pi-ai";
import { result, words } from "./shared.js";

const usage = {
	...{ input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 },
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const model = { id: "at-once", provider: "stub", api: "stub" };
const answer = (content, stopReason) => {
	const identity = { role: "assistant", api: "stub", provider: "stub", model: "at-once" };
	return { ...identity, content, usage, stopReason, timestamp: Date.now() };
};

function streamOf(events, message) {
	let at = 0;
	const next = async () => ({ value: events[at], done: at++ >= events.length });
	return { result: async () => message, [Symbol.asyncIterator]: () => ({ next }) };
}

const answering =
	(decide) =>
	(_, { messages }) => {
		const next = decide(messages, ({ role }) => role === "toolResult");
		const message =
			typeof next === "string"
				? answer([{ type: "text", text: next }], "stop")
				: answer([{ type: "toolCall", id: `call-${next}`, name: "look", arguments: {} }], "toolUse");
		return streamOf([{ type: "done", reason: message.stopReason, message }], message);
	};

const talking = (count) => () => {
	const message = answer([{ type: "text", text: "word ".repeat(count) }], "stop");
	const about = { contentIndex: 0, partial: message };
	const deltas = words(count).map((delta) => ({ type: "text_delta", delta, ...about }));
	const begin = [
		{ type: "start", partial: message },
		{ type: "text_start", ...about },
	];
	return streamOf([...begin, ...deltas, { type: "done", reason: "stop", message }], message);
};

const look = (ran) => ({
	name: "look",
	label: "Look",
	description: "Looks at one thing.",
	parameters: Type.Object({}),
	execute: async () => {
		ran();
		return { content: [{ type: "text", text: result }], details: {} };
	},
});

const agentOf = (streamFn, tools) =>
	new Agent({ initialState: { model, tools, systemPrompt: "" }, streamFn });
const lastText = ({ state }) => state.messages.at(-1)?.content[0]?.text ?? "";

export function looper(decide, ran) {
	return async () => {
		const agent = agentOf(answering(decide), [look(ran)]);
		await agent.prompt("Look.");
		return lastText(agent);
	};
}

export function streamer(count) {
	/** It calls a subscriber for each event: its texts are handed on from there. */
	return async function* () {
		const agent = agentOf(talking(count), []);
		const heard = [];
		agent.subscribe((event) => {
			const { assistantMessageEvent: inner } = event;
			if (inner?.type === "text_delta") heard.push(inner.delta);
		});
		await agent.prompt("Talk.");
		yield* heard;
	};
}

export function conversations(decide, ran) {
	const kept = new Map();
	return async (at) => {
		const agent = kept.get(at) ?? agentOf(answering(decide), [look(ran)]);
		kept.set(at, agent);
		await agent.prompt("Look.");
		return lastText(agent);
	};
}

// Holdfast, as a user writes it: `Agent` with a model of one's own, sessions in memory, sessions in a file.
import { AssistantMessage, createProvider } from "@holdfast/upp";
import { Agent, memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { result, words } from "./shared.js";

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const call = (number) => ({
	message: new AssistantMessage([], [{ toolCallId: `call-${number}`, toolName: "look", arguments: {} }]),
	usage,
	stopReason: "tool_calls",
});
const said = (text) => ({ message: new AssistantMessage(text), usage, stopReason: "stop" });

/** A model that answers with what `decide` gives: a number is a call of the tool, a text is an answer. */
function modelOf(decide) {
	const answer = ({ messages }) => {
		const next = decide(messages, (message) => message.type === "tool_result");
		return typeof next === "number" ? call(next) : said(next);
	};
	const capabilities = { streaming: false, tools: true, structuredOutput: false };
	const others = { imageInput: false, videoInput: false, audioInput: false };
	const bind = (modelId) => ({
		modelId,
		capabilities: { ...capabilities, ...others },
		complete: async (request) => answer(request),
		stream: () => {
			throw new Error("This model answers in one piece.");
		},
	});
	return createProvider({ name: "stub", version: "1", modalities: { llm: { bind } } })("at-once");
}

function talking(count) {
	const response = said("word ".repeat(count));
	const pieces = words(count).map((text) => ({ type: "text_delta", index: 0, delta: { text } }));
	const bind = (modelId) => ({
		modelId,
		capabilities: {
			streaming: true,
			tools: true,
			structuredOutput: false,
			imageInput: false,
			videoInput: false,
			audioInput: false,
		},
		complete: async () => response,
		stream() {
			let at = 0;
			const next = async () => ({ value: pieces[at], done: at++ >= pieces.length });
			return { response: Promise.resolve(response), [Symbol.asyncIterator]: () => ({ next }) };
		},
	});
	return createProvider({ name: "stub", version: "1", modalities: { llm: { bind } } })("at-once");
}

const look = (ran) =>
	tool({
		name: "look",
		description: "Looks at one thing.",
		parameters: { type: "object", properties: {} },
		retryPolicy: "idempotent",
		run: () => {
			ran();
			return result;
		},
	});

export function looper(decide, ran) {
	const agent = new Agent({ model: modelOf(decide), tools: [look(ran)] });
	return async () => (await agent.generate("Look.")).turn.response.text;
}

export function streamer(count) {
	const agent = new Agent({ model: talking(count) });
	return async function* () {
		for await (const event of agent.stream("Talk."))
			if (event.upp?.type === "text_delta") yield event.upp.delta.text;
	};
}

export function conversations(decide, ran) {
	const agent = new Agent({ model: modelOf(decide), tools: [look(ran)], host: memoryHost() });
	return async (at) => (await (await agent.session(`customer-${at}`).send("Look.")).result()).text;
}

export function durable(path, decide, ran) {
	const host = sqliteHost(path);
	const agent = new Agent({ model: modelOf(decide), tools: [look(ran)], host });
	return {
		run: async (id) => (await (await agent.session(id).send("Look.")).result()).text,
		async resume() {
			let text = "";
			for await (const run of agent.recover()) ({ text } = await run.result());
			return text;
		},
		async close() {
			await agent.close();
			await host.close();
		},
	};
}

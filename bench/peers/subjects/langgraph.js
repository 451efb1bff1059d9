// LangGraph: the usual graph of a model and its tools. Conversations are threads of a checkpointer.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { result, words } from "./shared.js";

class Stub extends BaseChatModel {
	constructor(decide, count) {
		super({});
		this.decide = decide;
		this.count = count;
	}
	_llmType() {
		return "stub";
	}
	bindTools() {
		return this;
	}
	async _generate(messages) {
		const next = this.decide(messages, (message) => message.getType() === "tool");
		const message =
			typeof next === "string"
				? new AIMessage(next)
				: new AIMessage({
						content: "",
						tool_calls: [{ id: `call-${next}`, name: "look", args: {}, type: "tool_call" }],
					});
		return { generations: [{ text: message.text, message }] };
	}
}

class Talking extends Stub {
	async *_streamResponseChunks(_messages, _options, runManager) {
		for (const text of words(this.count)) {
			const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
			yield chunk;
			await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
		}
	}
}

const look = (ran) =>
	tool(
		async () => {
			ran();
			return result;
		},
		{ name: "look", description: "Looks at one thing.", schema: { type: "object", properties: {} } },
	);

function graphOf(model, tools, checkpointer) {
	return new StateGraph(MessagesAnnotation)
		.addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
		.addNode("tools", new ToolNode(tools))
		.addEdge(START, "model")
		.addConditionalEdges("model", toolsCondition, { tools: "tools", [END]: END })
		.addEdge("tools", "model")
		.compile({ checkpointer });
}

const user = () => ({ messages: [{ role: "user", content: "Look." }] });
const recursionLimit = 1_000_000;
const lastText = ({ messages }) => messages.at(-1).text;

export function looper(decide, ran) {
	const graph = graphOf(new Stub(decide), [look(ran)]);
	return async () => lastText(await graph.invoke(user(), { recursionLimit }));
}

export function streamer(count) {
	const graph = graphOf(new Talking(() => "", count), []);
	return async function* () {
		for await (const [chunk] of await graph.stream(user(), { streamMode: "messages" })) yield chunk.text;
	};
}

export function conversations(decide, ran) {
	const graph = graphOf(new Stub(decide), [look(ran)], new MemorySaver());
	return async (at) =>
		lastText(await graph.invoke(user(), { configurable: { thread_id: `customer-${at}` } }));
}

export async function durable(path, decide, ran) {
	const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
	const saver = SqliteSaver.fromConnString(path);
	// As ours: a commit survives the death of the process. As it comes it would wait for the disk each time.
	saver.db.pragma("synchronous = NORMAL");
	const graph = graphOf(new Stub(decide), [look(ran)], saver);
	const options = (id) => ({ configurable: { thread_id: id }, recursionLimit, durability: "sync" });
	return {
		run: async (id) => lastText(await graph.invoke(user(), options(id))),
		/** It has no list of what was cut off: the program knows the thread. */
		resume: async (id) => lastText(await graph.invoke(null, options(id))),
		close: async () => void saver.db.close(),
	};
}

// AI SDK: `ToolLoopAgent`, with a model of the current specification. Conversations keep their messages, as its users do.
import { isStepCount, jsonSchema, ToolLoopAgent, tool } from "ai";
import { modelOf, talking } from "./ai-sdk-model.js";
import { result } from "./shared.js";

const look = (ran) =>
	tool({
		description: "Looks at one thing.",
		inputSchema: jsonSchema({ type: "object", properties: {} }),
		execute: async () => {
			ran();
			return result;
		},
	});

export function looper(decide, ran) {
	const agent = new ToolLoopAgent({
		model: modelOf(decide),
		tools: { look: look(ran) },
		stopWhen: isStepCount(100_000),
	});
	return async () => (await agent.generate({ prompt: "Look." })).text;
}

export function streamer(count) {
	const agent = new ToolLoopAgent({ model: talking(count) });
	return async function* () {
		yield* (await agent.stream({ prompt: "Talk." })).textStream;
	};
}

export function conversations(decide, ran) {
	const agent = new ToolLoopAgent({ model: modelOf(decide), tools: { look: look(ran) } });
	const kept = new Map();
	return async (at) => {
		const messages = [...(kept.get(at) ?? []), { role: "user", content: "Look." }];
		const { text, response } = await agent.generate({ messages });
		kept.set(at, [...messages, ...response.messages]);
		return text;
	};
}

// Mastra: `Agent` with a model of the AI SDK's specification. Conversations keep their messages, as users without its memory do.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { modelOf, talking } from "./ai-sdk-model.js";
import { result } from "./shared.js";

const look = (ran) =>
	createTool({
		id: "look",
		description: "Looks at one thing.",
		inputSchema: z.object({}),
		execute: async () => {
			ran();
			return result;
		},
	});

const agentOf = (model, tools) =>
	new Agent({ id: "looker", name: "looker", instructions: "Look.", model, tools });

export function looper(decide, ran) {
	const agent = agentOf(modelOf(decide), { look: look(ran) });
	return async () => (await agent.generate("Look.", { maxSteps: 1_000_000 })).text;
}

export function streamer(count) {
	const agent = agentOf(talking(count), {});
	return async function* () {
		yield* (await agent.stream("Talk.")).textStream;
	};
}

export function conversations(decide, ran) {
	const agent = agentOf(modelOf(decide), { look: look(ran) });
	const kept = new Map();
	return async (at) => {
		const messages = [...(kept.get(at) ?? []), { role: "user", content: "Look." }];
		const { text, response } = await agent.generate(messages);
		kept.set(at, [...messages, ...(response.messages ?? [])]);
		return text;
	};
}

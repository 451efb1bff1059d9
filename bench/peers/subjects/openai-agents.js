// OpenAI Agents: `Agent` and `Runner`, tracing off, since it would send to its maker. Conversations are sessions in memory.
import { Agent, MemorySession, Runner, tool, Usage } from "@openai/agents";
import { result, words } from "./shared.js";

const usage = { requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const message = (text) => ({
	type: "message",
	role: "assistant",
	status: "completed",
	content: [{ type: "output_text", text }],
});

const modelOf = (decide) => ({
	async getResponse({ input }) {
		const items = typeof input === "string" ? [] : input;
		const next = decide(items, ({ type }) => type === "function_call_result");
		const call = {
			type: "function_call",
			callId: `call-${next}`,
			name: "look",
			arguments: "{}",
			status: "completed",
		};
		return { usage: new Usage(usage), output: [typeof next === "string" ? message(next) : call] };
	},
});

const talking = (count) => ({
	async *getStreamedResponse() {
		yield { type: "response_started" };
		for (const delta of words(count)) yield { type: "output_text_delta", delta };
		yield { type: "response_done", response: { id: "one", usage, output: [message("word ".repeat(count))] } };
	},
});

const look = (ran) =>
	tool({
		name: "look",
		description: "Looks at one thing.",
		parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
		strict: false,
		execute: async () => {
			ran();
			return result;
		},
	});

const runner = new Runner({ tracingDisabled: true });
const agentOf = (model, tools) => new Agent({ name: "looker", instructions: "", model, tools });

export function looper(decide, ran) {
	const agent = agentOf(modelOf(decide), [look(ran)]);
	return async () => (await runner.run(agent, "Look.", { maxTurns: 1_000_000 })).finalOutput;
}

export function streamer(count) {
	const agent = agentOf(talking(count), []);
	return async function* () {
		yield* (await runner.run(agent, "Talk.", { stream: true })).toTextStream();
	};
}

export function conversations(decide, ran) {
	const agent = agentOf(modelOf(decide), [look(ran)]);
	const kept = new Map();
	return async (at) => {
		const session = kept.get(at) ?? new MemorySession();
		kept.set(at, session);
		return (await runner.run(agent, "Look.", { session })).finalOutput;
	};
}

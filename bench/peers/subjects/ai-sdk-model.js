// Models of the AI SDK's specification, which Mastra takes, too.
import { words } from "./shared.js";

const usage = {
	inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const finish = (unified) => ({ finishReason: { unified, raw: unified }, usage, warnings: [] });

export const modelOf = (decide) => ({
	specificationVersion: "v4",
	provider: "stub",
	modelId: "at-once",
	supportedUrls: {},
	async doGenerate({ prompt }) {
		const next = decide(prompt, ({ role }) => role === "tool");
		if (typeof next === "string") return { content: [{ type: "text", text: next }], ...finish("stop") };
		const call = { type: "tool-call", toolCallId: `call-${next}`, toolName: "look", input: "{}" };
		return { content: [call], ...finish("tool-calls") };
	},
});

export const talking = (count) => ({
	specificationVersion: "v4",
	provider: "stub",
	modelId: "at-once",
	supportedUrls: {},
	async doStream() {
		const parts = [
			{ type: "stream-start", warnings: [] },
			{ type: "text-start", id: "0" },
			...words(count).map((delta) => ({ type: "text-delta", id: "0", delta })),
			{ type: "text-end", id: "0" },
			{ type: "finish", ...finish("stop") },
		];
		let at = 0;
		return {
			stream: new ReadableStream({
				pull(controller) {
					if (at < parts.length) controller.enqueue(parts[at++]);
					else controller.close();
				},
			}),
		};
	},
});

import { defineModel } from "@holdfast/threads";

export default defineModel({
	name: "returns",
	model: "none",
	provider: () => ({
		name: "none",
		specificationVersion: "1",
		generate: async () => ({
			content: "Send it back.",
			finishReason: "stop",
			usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
		}),
		async *stream() {
			yield { type: "content-delta", delta: "Send it back." };
			yield {
				type: "finish",
				finishReason: "stop",
				usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
			};
		},
	}),
});

import { defineAgent } from "@holdfast/threads";

export default defineAgent({
	name: "assistant",
	title: "Assistant",
	sideA: { prompt: "assist", maxSteps: 8 },
	hooks: ["count_tool_calls"],
});

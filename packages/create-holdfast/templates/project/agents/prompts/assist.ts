import { definePrompt } from "@holdfast/threads";

export default definePrompt({
	name: "assist",
	toolDescription: "Answers questions with the available tools.",
	prompt: "You are a helpful assistant. Use the tools for sums and notes, and answer in one sentence.",
	model: "offline",
	tools: ["add", "note"],
});

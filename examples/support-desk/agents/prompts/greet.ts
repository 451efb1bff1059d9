import { definePrompt } from "@holdfast/threads";

export default definePrompt({
	name: "greet",
	toolDescription: "Finds out what somebody needs.",
	prompt: "You are the front desk. Hand over what is about money.",
	model: "desk",
	tools: ["billing"],
});

import { definePrompt } from "@holdfast/threads";

export default definePrompt({
	name: "explain",
	toolDescription: "Knows about returns.",
	prompt: "You know about returns.",
	model: "returns",
});

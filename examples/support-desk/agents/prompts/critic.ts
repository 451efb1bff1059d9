import { definePrompt } from "@holdfast/threads";

export default definePrompt({
	name: "critic",
	toolDescription: "Reviews replies.",
	prompt: "You review drafts and approve the one that is right.",
	model: "desk",
	tools: ["approve_reply"],
});

import { defineAgent } from "@holdfast/threads";

/** Two agents in their own thread: one drafts, the other approves. */
export default defineAgent({
	name: "review",
	type: "dual_ai",
	exposeAsTool: true,
	toolDescription: "Drafts a reply and has it reviewed.",
	sideA: { prompt: "draft", label: "Writer" },
	sideB: {
		prompt: "critic",
		label: "Critic",
		sessionStop: { name: "approve_reply", messageProperty: "reply" },
	},
	maxSessionTurns: 6,
});

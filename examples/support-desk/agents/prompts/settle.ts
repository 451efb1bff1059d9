import { definePrompt } from "@holdfast/threads";

export default definePrompt({
	name: "settle",
	toolDescription: "Settles questions about money.",
	prompt: "You settle refunds. Attach the receipt, have your reply reviewed, then refund.",
	model: "desk",
	tools: ["receipt", "refund", { name: "review", initUserMessageProperty: "message" }],
});

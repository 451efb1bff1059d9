import { defineAgent } from "@holdfast/threads";

/** Takes over a thread: an agent that talks to people and that other agents can call. */
export default defineAgent({
	name: "billing",
	title: "Billing",
	exposeAsTool: true,
	toolDescription: "Takes over a conversation about refunds and invoices.",
	sideA: { prompt: "settle" },
});

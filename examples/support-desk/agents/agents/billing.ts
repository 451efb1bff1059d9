import { defineAgent } from "@holdfast/threads";

/** Takes over a thread: it is an agent for people that others may call. */
export default defineAgent({
	name: "billing",
	title: "Billing",
	exposeAsTool: true,
	toolDescription: "Takes over a conversation about refunds and invoices.",
	sideA: { prompt: "settle" },
});

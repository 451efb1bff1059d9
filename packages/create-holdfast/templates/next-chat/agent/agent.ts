// The agent: its model, its tools and its instructions. These are options, because the service creates the agent.
import { tool } from "holdfast";
import { z } from "zod";
import { model } from "./model.ts";

const add = tool({
	name: "add",
	description: "Adds numbers.",
	parameters: z.object({ numbers: z.array(z.number()).min(1) }),
	retryPolicy: "pure",
	run: ({ numbers }) => numbers.reduce((sum, number) => sum + number, 0),
});

const order = tool({
	name: "order",
	description: "Orders something for the user.",
	parameters: z.object({ what: z.string() }),
	// The chat asks the user for approval, and waits as long as it takes.
	needsApproval: true,
	retryPolicy: "idempotent",
	run: ({ what }) => `Ordered: ${what}.`,
});

export const assistant = {
	model,
	tools: [add, order],
	instructions: "You are a helpful assistant. Use your tools for sums and orders. Be brief.",
};

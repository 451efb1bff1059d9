// The agent: a model, what it may do, and how it is to behave. Its options, for the service makes it.
import { tool } from "holdfast";
import { z } from "zod";
import { model } from "./model.ts";

export const add = tool({
	name: "add",
	description: "Adds numbers.",
	parameters: z.object({ numbers: z.array(z.number()).min(1) }),
	// What may be done after a crash inside it. A tool that changes something outside says "idempotent" or "manual-recovery".
	retryPolicy: "pure",
	run: ({ numbers }) => numbers.reduce((sum, number) => sum + number, 0),
});

export const assistant = {
	model,
	tools: [add],
	instructions: "You are a helpful assistant. Use your tools for sums. Be brief.",
};

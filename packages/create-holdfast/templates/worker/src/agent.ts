// The agent: its model, its tools and its instructions.
import { tool } from "holdfast";
import { z } from "zod";
import { modelFor, type Secrets } from "./model.ts";

export const add = tool({
	name: "add",
	description: "Adds numbers.",
	parameters: z.object({ numbers: z.array(z.number()).min(1) }),
	// How the call may be retried after a crash. Tools that change something outside use "idempotent" or
	// "manual-recovery".
	retryPolicy: "pure",
	run: ({ numbers }) => numbers.reduce((sum, number) => sum + number, 0),
});

export const assistant = (secrets: Secrets) => ({
	model: modelFor(secrets),
	tools: [add],
	instructions: "You are a helpful assistant. Use your tools for sums. Be brief.",
});

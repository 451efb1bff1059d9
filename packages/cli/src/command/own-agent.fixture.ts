/** An agent as users write it, in a separate file; the model's address is in the environment. */
import { openaiCompatible } from "@holdfast/upp";
import { Agent, tool } from "holdfast";

export const models = { other: openaiCompatible("other", { baseURL: process.env.STUB_MODEL ?? "" }) };

export default new Agent({
	model: openaiCompatible("stub", { baseURL: process.env.STUB_MODEL ?? "" }),
	instructions: "You count parcels.",
	tools: [
		tool({
			name: "count",
			description: "Counts the parcels.",
			parameters: { type: "object", properties: {} },
			retryPolicy: "pure",
			run: () => "7 parcels",
		}),
	],
});

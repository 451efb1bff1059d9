// The agent that all processes share: servers accept requests for it, and workers continue its runs. `holdfast serve` and
// `holdfast worker` load it from this file; `--db` names the store.
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent, tool } from "holdfast";
import { z } from "zod";

const parcels = tool({
	name: "count_parcels",
	description: "Counts the parcels of a customer.",
	parameters: z.object({ customer: z.string() }),
	retryPolicy: "pure",
	run: ({ customer }) => ({ customer, parcels: customer.length }),
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last !== undefined && isToolResultMessage(last))
		return `Counted: ${JSON.stringify(last.results[0]?.result)}`;
	const customer = /customer (?<name>[\w-]+)/.exec(last?.text ?? "")?.groups?.name ?? "nobody";
	return { toolCalls: [{ name: "count_parcels", arguments: { customer } }] };
});

export default new Agent({ model, tools: [parcels], instructions: "You count parcels." });

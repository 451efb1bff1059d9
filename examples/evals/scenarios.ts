// Scenarios for an agent: the questions, and scores for its answers. `holdfast eval` runs each one several times, saves the
// scores, and exits with an error if they got worse.
import { contains, type Scenario, scoredBy } from "@holdfast/runner/evaluation";
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent, tool } from "holdfast";
import { z } from "zod";

const stock = tool({
	name: "stock",
	description: "How many there are of an article.",
	parameters: z.object({ article: z.string() }),
	retryPolicy: "pure",
	run: ({ article }) => (article === "lamp" ? 3 : 0),
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last !== undefined && isToolResultMessage(last)) return `There are ${last.results[0]?.result}.`;
	const article = /lamp|desk/.exec(last?.text ?? "")?.[0];
	return article === undefined
		? "I know about lamps and desks."
		: { toolCalls: [{ name: "stock", arguments: { article } }] };
});

const clerk = new Agent({ model, tools: [stock] });

/** An answer that fits on a line of the display. */
const isShort = scoredBy("short", ({ output }) => String(output).length <= 40);

export default [
	{ name: "counts", agent: clerk, input: "How many lamps are there?", scorers: [contains("3"), isShort] },
	{
		name: "none left",
		agent: clerk,
		input: "How many desks are there?",
		scorers: [contains(/\b0\b/), isShort],
	},
	{
		name: "asks back",
		agent: clerk,
		input: "Good morning!",
		scorers: [contains("lamps and desks"), isShort],
	},
] satisfies readonly Scenario[];

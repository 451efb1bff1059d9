// A draft that a person reviews, as often as necessary. Each review may come days later and in another process.
import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { workflow } from "holdfast/workflow";
import { z } from "zod";

// One rule in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const [task = "", ...wishes] = (messages.at(-1)?.text ?? "").split("\n");
	return [`Draft ${wishes.length + 1} about ${task}`, ...wishes.map((wish) => `with: ${wish}`)].join(", ");
});
const writer = agent({ name: "writer", description: "Writes drafts.", model });

interface Review {
	readonly accepted: boolean;
	readonly wish?: string;
}

export const review = workflow(
	{ name: "review", subagents: [writer], input: z.object({ topic: z.string() }) },
	async (flow, { topic }) => {
		const wishes: string[] = [];
		for (let round = 1; round <= 5; round++) {
			const draft = await flow.agent(writer, [topic, ...wishes].join("\n"));
			const { accepted, wish = "better" } = await flow.ask<Review>("Do you accept this draft?", {
				draft,
				round,
			});
			if (accepted) return { draft, rounds: round };
			wishes.push(wish);
		}
		throw new Error("Five drafts were not accepted.");
	},
);

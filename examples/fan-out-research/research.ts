// Twenty researchers answer parts of one question at the same time, and an editor writes the report.
import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { workflow } from "holdfast/workflow";
import { z } from "zod";

// Rules in place of language models. Put `openai("gpt-5.2")` of "@ai-sdk/openai" into both.
const researching = scriptedModel(({ messages }) => {
	const task = messages.at(-1)?.text ?? "";
	const { number = "0" } = /topic (?<number>\d+)/.exec(task)?.groups ?? {};
	return JSON.stringify({
		topic: Number(number),
		finding: `Topic ${number} has ${Number(number) ** 2} sources.`,
	});
});
const editing = scriptedModel(({ messages }) => {
	const findings = (messages.at(-1)?.text ?? "").split("\n").slice(1);
	return `${findings.length} findings. The last one: ${findings.at(-1)}`;
});

const researcher = agent({
	name: "researcher",
	description: "Researches one topic.",
	model: researching,
	output: z.object({ topic: z.number(), finding: z.string() }),
});
const editor = agent({ name: "editor", description: "Writes reports.", model: editing });

export const research = workflow(
	{
		name: "research",
		subagents: [researcher, editor],
		input: z.object({ topics: z.number().int().max(100) }),
	},
	async (flow, { topics }) => {
		const tasks = Array.from({ length: topics }, (_, at) => `Research topic ${at + 1}.`);
		// One researcher that fails does not end the others.
		const answers = await Promise.allSettled(tasks.map((task) => flow.agent(researcher, task)));
		const findings = answers.flatMap((each) => (each.status === "fulfilled" ? [each.value.finding] : []));
		const report = await flow.agent(editor, ["Write a report.", ...findings].join("\n"));
		return { report, failed: answers.length - findings.length };
	},
);

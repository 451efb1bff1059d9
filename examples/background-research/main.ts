// A coordinator that delegates questions to researchers in the background, answers at once, and reports their findings in a later turn.
// Each researcher works in its own session.
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent } from "holdfast";

const facts: Readonly<Record<string, string>> = {
	Bern: "Bern has 147,000 inhabitants.",
	Oslo: "Oslo has 717,000 inhabitants.",
};

// A few rules in place of language models. Put `openai("gpt-5.2")` of "@ai-sdk/openai" into both.
const researching = scriptedModel(({ messages }) => {
	const task = messages.at(-1)?.text ?? "";
	return Object.entries(facts).find(([city]) => task.includes(city))?.[1] ?? "I found nothing.";
});

const coordinating = scriptedModel(({ messages }) => {
	const results = messages.flatMap((message) => (isToolResultMessage(message) ? message.results : []));
	const tasks = results.map(({ result }) => result as { task_id: string; text: string });
	const found = tasks.map(({ text }) => text).filter((text) => text.endsWith("inhabitants."));
	if (found.length > 0) return found.join(" ");
	if (tasks.length === 0)
		return {
			toolCalls: Object.keys(facts).map((city) => ({
				name: "delegate_to_researcher",
				arguments: { prompt: `How many people live in ${city}?`, run_in_background: true },
			})),
		};
	// Reminders about finished work are also messages.
	if (messages.some(({ text }) => text === "And?"))
		return {
			toolCalls: tasks.map(({ task_id }) => ({
				name: "background_output",
				arguments: { task_id, block: true },
			})),
		};
	return "Two researchers are on it.";
});

const researcher = new Agent({
	name: "researcher",
	description: "Researches facts and returns concise evidence.",
	model: researching,
});
const coordinator = new Agent({ model: coordinating, subagents: [researcher] });
const session = coordinator.session("report");

for (const question of ["Which is larger, Bern or Oslo?", "And?"]) {
	console.log(`> ${question}`);
	for await (const event of (await session.send(question)).events()) {
		if (event.type === "subagent-job-start") console.log(`asked ${event.subagent} in the background`);
		if (event.type === "assistant-text") console.log(event.text);
	}
}
await coordinator.close();

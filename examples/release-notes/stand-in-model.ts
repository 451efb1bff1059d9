// A model that needs no key: it plans from the results of the tools so far, in the format of a real model.
import type { ChatMessage, LLMClient, RunnerStep } from "@holdfast/runner";

export const standInModel: LLMClient = {
	deterministic: true,
	async call(prompt) {
		return { text: JSON.stringify(nextStep(typeof prompt === "string" ? [] : prompt)) };
	},
};

function nextStep(messages: readonly ChatMessage[]): RunnerStep {
	const task = String(messages.find(({ role }) => role === "user")?.content);
	const gave = messages
		.filter(({ role }) => role === "tool")
		.map(({ content }) => JSON.parse(String(content)));
	const [page, kept] = gave;
	if (page === undefined)
		return { type: "tool", toolId: "http", input: { url: /http:\S+(?=,)/.exec(task)?.[0] } };
	if (page.body === undefined) return { type: "finish", message: `There are no notes: ${page.code}.` };
	if (kept === undefined) {
		const input = { operation: "set", key: "release-notes", value: page.body };
		return { type: "tool", toolId: "cache", input };
	}
	const [title, ...lines] = String(page.body).split("\n");
	const changes = lines.filter((line) => line.includes("API")).map((line) => line.replace("- API: ", ""));
	return { type: "finish", message: `${title}: ${changes.join("; ")}.` };
}

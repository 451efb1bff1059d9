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
	const [lines, ran, posted] = gave;
	if (lines === undefined) return { type: "tool", toolId: "search", input: { text: "slugify" } };
	if (ran === undefined) {
		const test = lines.find(({ file }: { file: string }) => file.endsWith(".test.js"));
		return { type: "tool", toolId: "shell", input: { argv: ["node", test.file] } };
	}
	if (ran.exitCode === 0) return { type: "finish", message: "The test passes; there is nothing to report." };
	if (ran.output === undefined)
		return { type: "finish", message: `The test could not be run (${ran.code}); nothing was posted.` };
	if (posted === undefined) {
		const url = /http:\S+(?=\.$)/.exec(task)?.[0];
		const body = { title: "slugify: its test fails", text: ran.output.stderr };
		const input = { url, method: "POST", body, idempotencyKey: "slugify-test-fails" };
		return { type: "tool", toolId: "http", input };
	}
	return { type: "finish", message: `Posted as ${posted.headers.location}.` };
}

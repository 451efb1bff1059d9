// A rule-based model, so that this runs without a key: it calls a tool whose rule fits the message, if the agent has the
// tool, and reports the tool's result. Remove it once you have a real model.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";

interface Rule {
	readonly tool: string;
	/** The arguments of the call; undefined if the message asks for something else. */
	readonly read: (text: string) => Record<string, unknown> | undefined;
	readonly answer: (result: string) => string;
}

const rules: readonly Rule[] = [
	{ tool: "clock", read: readTimeZone, answer: (time) => `It is ${time}.` },
	{ tool: "pay", read: readInvoice, answer: (result) => result },
	{ tool: "report", read: readTopic, answer: (result) => `Here it is: ${result}` },
	{ tool: "add", read: readNumbers, answer: (sum) => `That makes ${sum}.` },
];

export const offline: ScriptedModel = scriptedModel(({ messages, tools = [] }) => {
	const asked = messages.findLast(({ type }) => type === "user")?.text ?? "";
	for (const { tool, read, answer } of rules) {
		const given = tools.some(({ name }) => name === tool) ? read(asked) : undefined;
		if (given === undefined) continue;
		const last = messages.at(-1);
		return last?.type === "tool_result"
			? answer(last.text)
			: { toolCalls: [{ name: tool, arguments: given }] };
	}
	return 'I am a model that follows a few fixed rules. Ask me "What is 2 + 3?", or set OPENAI_API_KEY for a real one.';
});

function readTimeZone(text: string): { timeZone: string } | undefined {
	if (!/\btime\b/i.test(text)) return undefined;
	const zones = Intl.supportedValuesOf("timeZone");
	return { timeZone: zones.find((zone) => text.includes(cityOf(zone))) ?? "UTC" };
}

function cityOf(timeZone: string): string {
	return timeZone.slice(timeZone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

function readInvoice(text: string): { invoice: string; euros: number } | undefined {
	const { invoice, euros } = /\bpay\b.*?(?<invoice>[A-Z]+-\d+).*?(?<euros>\d+)/i.exec(text)?.groups ?? {};
	return invoice === undefined ? undefined : { invoice, euros: Number(euros) };
}

function readTopic(text: string): { topic: string } | undefined {
	const topic = /\breport (?:on|about) (?<topic>[^.?!]+)/i.exec(text)?.groups?.topic;
	return topic === undefined ? undefined : { topic };
}

function readNumbers(text: string): { numbers: number[] } | undefined {
	const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
	return numbers.length > 1 ? { numbers } : undefined;
}

// Answers from your own texts: a searchable collection stores the paragraphs, a tool finds those that match, and the answer cites
// its source.

import { sqliteClients } from "@holdfast/memory/sqlite";
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { agent, tool } from "holdfast";
import { z } from "zod";

const handbook = `Holidays: everybody has 30 days a year. Days that are left over expire at the end of March.
Travel: trains are booked in second class; flights need the consent of the team lead.
Lamps: a lamp that flickers is reported at the desk and replaced within two days.`;

// For confidential texts, use `encryption` instead of `unencrypted`. To search by meaning as well, add `embed`.
const clients = sqliteClients({ file: "./handbook.db", unencrypted: true });
const { database } = clients;
for (const [at, text] of handbook.split("\n").entries())
	await database.write("handbook", `line-${at + 1}`, { text, line: at + 1 });

const search = tool({
	name: "search_handbook",
	description: "Finds the paragraphs of the handbook that fit some words, the best first.",
	parameters: z.object({ words: z.string() }),
	retryPolicy: "pure",
	async run({ words }) {
		const found = await database.search(words, { collection: "handbook", topK: 2 });
		return found.map(({ value }) => value as { text: string; line: number });
	},
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last === undefined || !isToolResultMessage(last))
		return { toolCalls: [{ name: "search_handbook", arguments: { words: last?.text ?? "" } }] };
	const [best] = (last.results[0]?.result ?? []) as { text: string; line: number }[];
	return best === undefined ? "The handbook does not say." : `${best.text} (line ${best.line})`;
});

const clerk = agent({
	model,
	tools: [search],
	instructions: "Answer from the handbook only, and say which line.",
});
const questions =
	process.argv.length > 2 ? process.argv.slice(2) : ["My lamp flickers", "Who may book flights?", "Parking"];
for (const question of questions) {
	console.log(`> ${question}`);
	console.log((await clerk.query(question)).response.text);
}
await clients.close();

// Half a surrogate pair from any source is neither stored nor shown to a model, because strict providers refuse it.
import { expect, test } from "vitest";
import { memoryJournal } from "../host/memory-journal.ts";
import { tool } from "../tools/tool.ts";
import { play } from "./sessions.fixture.ts";

const half = "\ud83d";
const isHalf = /\\ud[89a-f]/i;

const page = (run: () => unknown) => tool({ name: "page", description: "A page.", run });
const call = { toolCalls: [{ name: "page" }] };

test.each([
	["a text result", page(() => `title ${half}`), [call, "fine"], "go"],
	["a structured result", page(() => ({ [half]: [half] })), [call, "fine"], "go"],
	[
		"what a tool throws",
		page(() => {
			throw new Error(`bad ${half}`);
		}),
		[call, "fine"],
		"go",
	],
	["what a user says", page(() => ""), ["fine"], `look ${half}`],
	["what a model says", page(() => ""), [`fine ${half}`], "go"],
	[
		"what a model asks a tool",
		page(() => ""),
		[{ toolCalls: [{ name: "page", arguments: { q: half } }] }, "fine"],
		"go",
	],
	["an error of the model", page(() => ""), [{ error: new Error(`down ${half}`) }], "go"],
])("%s", async (_name, tools, script, input) => {
	const journal = memoryJournal();
	const { session, model, agent } = play(script, { tools: [tools] }, journal);
	await (await session.send(input)).result();
	const stored = JSON.stringify(await journal.read("s"));
	expect(isHalf.test(stored)).toBe(false);
	expect(stored).toContain("\ufffd");
	expect(isHalf.test(JSON.stringify(model.requests.map(({ messages }) => messages)))).toBe(false);
	await agent.close();
});

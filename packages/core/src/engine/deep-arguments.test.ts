import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";

const nested = (levels: number): Record<string, unknown> =>
	JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

test("arguments that are nested too deeply give an error result, and the run continues", async () => {
	const script = [
		{
			toolCalls: [
				{ name: "work", arguments: nested(20_000) },
				{ name: "work", arguments: nested(100) },
			],
		},
		"Done.",
	];
	const tools = [anyTool("work", () => "worked")];
	const tooDeep = 'The arguments of "work" are not a JSON object: they are nested more than 500 levels deep';
	const expected = [
		"user: go",
		"assistant:  [work, work]",
		`results: ${tooDeep}!, worked`,
		"assistant: Done.",
	];
	const { state } = await agent({ model: scriptedModel(script), tools }).generate("go");
	expect(lines(state.messages)).toEqual(expected);
	const one = agent({ model: scriptedModel(script), tools });
	const result = await (await one.session("a").send("go")).result();
	expect(lines(result.state.messages)).toEqual(expected);
	await one.close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { add, assistant } from "./agent.ts";

test("the agent adds with its tool", async () => {
	const model = scriptedModel([{ toolCalls: [{ name: "add", arguments: { numbers: [2, 3] } }] }, "5."]);
	const turn = await agent({ ...assistant, model }).query("What is 2 + 3?");
	assert.equal(turn.response.text, "5.");
	assert.deepEqual(
		turn.toolExecutions.map(({ toolName, result }) => [toolName, result]),
		[["add", 5]],
	);
});

test("the tool rejects an empty list before it runs", async () => {
	const model = scriptedModel([{ toolCalls: [{ name: "add", arguments: { numbers: [] } }] }, "Sorry."]);
	const turn = await agent({ model, tools: [add] }).query("Add nothing.");
	assert.equal(turn.toolExecutions[0]?.isError, true);
});

// The stack of a throwing tool goes to logs and to the host's own code. Neither a model nor a client receives it.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { createSession, execute } from "../execute/create-session.ts";
import { play } from "./sessions.fixture.ts";

const look = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" },
	run(): never {
		throw new Error("Nothing to see.");
	},
} as const;
const script = [{ toolCalls: [{ name: "look" }] }, "Done."];
const here = "tool-stack.test.ts";

test("the stack of a tool that threw is in the turn's executions and in the event, but the model does not get it", async () => {
	const { session, model } = play(script, { tools: [look] });
	const run = await session.send("go");
	const stacks: unknown[] = [];
	for await (const event of run.watch()) if (event.type === "tool_end") stacks.push(event.stack);
	const { turn, state } = await run.result();
	expect(turn?.toolExecutions).toMatchObject([{ isError: true, result: "Nothing to see." }]);
	expect(turn?.toolExecutions[0]?.stack).toContain(here);
	expect(turn?.toolExecutions[0]?.stack).not.toContain("tool-round");
	expect(stacks).toEqual([turn?.toolExecutions[0]?.stack]);
	expect(JSON.stringify([model.requests, state.toJSON()])).not.toContain(here);
});

test("the events and the result of an execution do not contain it", async () => {
	const session = createSession(
		"s",
		{ tools: [{ ...look, execute: look.run }] },
		{ model: scriptedModel(script) },
	);
	const stream = execute(session, { role: "user", content: "go" });
	const events: unknown[] = [];
	for await (const event of stream) events.push(event);
	const seen = JSON.stringify([events, await stream.result(), session.messages]);
	expect(seen).toContain("Nothing to see.");
	expect(seen).not.toContain(here);
});

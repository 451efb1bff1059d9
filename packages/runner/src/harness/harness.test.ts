// The harness: what it gives to tests holds what it says.
import { describe, expect, test } from "vitest";
import { RunnerAgent } from "../agent/index.ts";
import type { AgentConfig, RunnerStep } from "../contract/index.ts";
import { type ExpectedAction, expectActions, snapshot, stubClient } from "./index.ts";

const config = (script: Parameters<typeof stubClient>[0], more: Partial<AgentConfig> = {}): AgentConfig => ({
	id: "a",
	taskPrompt: "Do it.",
	tools: [{ id: "echo", description: "Says it.", run: (input) => input }],
	modelProviders: [stubClient(script)],
	...more,
});
const echo: RunnerStep = { type: "tool", toolId: "echo", input: { b: 1, a: 2 } };
const finish: RunnerStep = { type: "finish", message: "done" };

describe("a stub", () => {
	test("returns its replies and chunks in order, and stores each prompt [RUN-147]", async () => {
		const stub = stubClient(["one", ["t", "w", "o"], new Error("three")]);
		expect(await stub.call("first", { maxTokens: 5 })).toEqual({ text: "one" });
		const chunks: string[] = [];
		for await (const { text } of stub.stream?.([{ role: "user", content: "second" }]) ?? [])
			chunks.push(text);
		expect(chunks).toEqual(["t", "w", "o"]);
		await expect(stub.call("third")).rejects.toThrow("three");
		await expect(stub.call("fourth")).rejects.toMatchObject({ code: "STUB_EXHAUSTED" });
		expect(stub.prompts.map(({ messages }) => messages[0]?.content)).toEqual([
			"first",
			"second",
			"third",
			"fourth",
		]);
		expect(stub.prompts[0]?.options).toEqual({ maxTokens: 5 });
	});

	test("after its end a run fails with STUB_EXHAUSTED [RUN-147]", async () => {
		const result = await new RunnerAgent(config([echo])).runOnce();
		expect(result.error?.code).toBe("STUB_EXHAUSTED");
	});
});

describe("expectActions", () => {
	test("passes only for exactly the same actions, and otherwise names the first index that differs [RUN-148]", async () => {
		const result = await new RunnerAgent(config([echo, finish])).runOnce();
		const done: readonly [ExpectedAction, ExpectedAction] = [
			{ type: "tool", toolId: "echo", input: { a: 2, b: 1 } } as const,
			{ type: "finish" } as const,
		];
		expectActions(result, done);
		const differs = (expected: Parameters<typeof expectActions>[1]) => {
			try {
				expectActions(result, expected);
			} catch (error) {
				return error as { code: string; message: string; data: { index: number } };
			}
			throw new Error("it passed");
		};
		expect(differs([done[0], { type: "message" }])).toMatchObject({
			code: "ACTIONS_DIFFER",
			data: { index: 1 },
		});
		expect(differs([{ ...done[0], input: { a: 3 } }]).message).toMatch(/Action 0 .*"a":3.*"a":2/);
		expect(differs([done[0]])).toMatchObject({ data: { index: 1 } });
		expect(differs([...done, done[1]])).toMatchObject({ data: { index: 2 } });
	});
});

test("a snapshot is the same text for runs with the same actions, with sorted keys and without ids and times [RUN-149]", async () => {
	const run = (seed: number) =>
		new RunnerAgent(config([echo, finish])).runOnce({ deterministic: true, seed });
	const [one, two] = [await run(1), await run(1)];
	expect(snapshot(two)).toBe(snapshot(one));
	const live = snapshot(await new RunnerAgent(config([echo, finish])).runOnce());
	expect(snapshot(await new RunnerAgent(config([echo, finish])).runOnce())).toBe(live);
	expect(live).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}|\d{4}-\d{2}-\d{2}T/);
	expect(live.indexOf('"actions"')).toBeLessThan(live.indexOf('"id"'));
	expect(live).toContain("<id 1>");
});

// What a program that was written for the published package of document 1 finds here under the same names.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import * as main from "holdfast";
import * as checkpoint from "holdfast/checkpoint";
import * as compat from "holdfast/compat";
import * as execution from "holdfast/execution";
import * as middleware from "holdfast/middleware";
import * as threadTree from "holdfast/thread-tree";
import { describe, expect, test, vi } from "vitest";

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "drop-in-"));
const inCompat: Readonly<Record<string, unknown>> = { ...compat };

const helpers = [
	"orderToolCalls",
	"executeOrderedToolCalls",
	"hasToolDependencies",
	"hasCallDependencies",
	"injectToolContext",
	"withToolContext",
	"isContextAwareTool",
] as const;

test("the helpers are in `compat`, and `createSubAgentTool` is in the main entry", () => {
	for (const name of helpers) expect(inCompat[name], name).toBeTypeOf("function");
	expect(main.createSubAgentTool).toBeTypeOf("function");
});

test("each entry point has its own names", () => {
	for (const value of [main.agent, main.AgentState, main.ThreadTree, main.ThreadNode])
		expect(value).toBeTypeOf("function");
	for (const value of [execution.loop, execution.react, execution.plan]) expect(value).toBeTypeOf("function");
	expect(middleware.logging).toBeTypeOf("function");
	expect(checkpoint.fileCheckpoints).toBeTypeOf("function");
	expect(threadTree.ThreadTree).toBe(main.ThreadTree);
	expect(threadTree.ThreadNode).toBe(main.ThreadNode);
});

describe("fileCheckpoints of `holdfast/checkpoint`", () => {
	const stateOf = (step: number) => main.AgentState.initial().withStep(step).toJSON();

	test("stores the states of an agent in one folder per session, with its id", async () => {
		const dir = temporaryFolder();
		const store = checkpoint.fileCheckpoints({ dir });
		expect(await store.list()).toEqual([]);
		const one = main.agent({ model: scriptedModel(["Hello."]), checkpoints: store, sessionId: "s" });
		const { state } = await one.generate("go", main.AgentState.initial());
		await one.flush();
		await store.flush();
		expect(await store.list()).toEqual(["s"]);
		expect(await store.load("s")).toEqual(state.toJSON());
		expect(await store.loadMetadata("s")).toMatchObject({ sessionId: "s", step: 1, agentId: one.id });
		await store.delete("s");
		expect([await store.load("s"), await store.loadMetadata("s")]).toEqual([null, null]);
	});

	test("accepts a state at once, and keeps the order of un-awaited saves", async () => {
		const store = checkpoint.fileCheckpoints({ dir: join(temporaryFolder(), "deep") });
		const first = stateOf(1);
		void store.save("s", first);
		first.step = 99;
		for (let step = 2; step <= 5; step++) void store.save("s", stateOf(step));
		await store.flush();
		expect((await store.load("s"))?.step).toBe(5);
		await expect(store.save("s", null as never)).rejects.toMatchObject({ code: "invalid_input" });
	});
});

test("a live state and a message of another package are rejected or read with a helpful message", async () => {
	const model = scriptedModel(() => "Hello.");
	const one = main.agent({ model });
	const state = main.AgentState.initial().withMessage(new UserMessage("before"));
	const foreign = { ...state, id: state.id, messages: state.messages, toJSON: () => state.toJSON() };
	await expect(one.generate("go", foreign as never)).rejects.toMatchObject({
		code: "invalid_state",
		message: expect.stringMatching(/AgentState\.fromJSON\(state\.toJSON\(\)\)/),
	});
	expect((await one.generate("go", main.AgentState.fromJSON(foreign.toJSON()))).state.messages).toHaveLength(
		3,
	);
	const message = {
		id: "m",
		type: "user",
		timestamp: new Date(0),
		content: [{ type: "text", text: "theirs" }],
	};
	for (const way of ["generate", "stream"] as const) {
		const called = one[way](message as never, main.AgentState.initial());
		const { turn } = await ("result" in called ? called.result : called);
		expect(turn.messages[0]).toBeInstanceOf(UserMessage);
		expect(turn.messages[0]).toMatchObject({ id: "m", text: "theirs" });
	}
	const asked = one.generate({ role: "user", content: "Hello." } as never, main.AgentState.initial());
	await expect(asked).rejects.toMatchObject({
		code: "invalid_input",
		message: expect.stringMatching(/AI SDK/),
	});
});

test("a sub-agent tool is created and run as documented, with the type named after the tool", async () => {
	const events: Record<string, unknown>[] = [];
	const onSubagentEvent = vi.fn((event: object) => void events.push({ ...event }));
	const tool = main.createSubAgentTool({
		agent: main.agent({ model: scriptedModel(["Found."]) }),
		name: "explore",
		description: "Explores.",
		parameters: { type: "object", properties: { query: { type: "string" } } },
		buildPrompt: (params) => `Find ${params.query}`,
	});
	expect(await tool.run({ query: "it" }, { toolCallId: "c", onSubagentEvent })).toBe("Found.");
	expect(events[0]).toMatchObject({
		type: "subagent_start",
		subagentType: "explore",
		parentToolCallId: "c",
		prompt: "Find it",
		timestamp: expect.any(Number),
	});
	expect(events.at(-1)).toMatchObject({
		type: "subagent_end",
		success: true,
		result: "Found.",
		toolExecutions: [],
		usage: { totalTokens: expect.any(Number) },
		timestamp: expect.any(Number),
	});
	expect(
		events
			.slice(1, -1)
			.every(({ type, innerEvent }) => type === "subagent_event" && innerEvent !== undefined),
	).toBe(true);
	expect(new Set(events.map(({ subagentId }) => subagentId)).size).toBe(1);
});

import type { Tool } from "@holdfast/upp";
import { expect, test, vi } from "vitest";
import type { SubagentEvent } from "./subagent-event.ts";
import {
	injectToolContext,
	isContextAwareTool,
	type ToolExecutionContext,
	withToolContext,
} from "./tool-context.ts";

const shape = { description: "Reads.", parameters: { type: "object" } };
const reader: Tool = { name: "reader", ...shape, run: (_: unknown, context: unknown) => context };
const calling = { agent: { id: "agent", model: "model", config: { baseUrl: "x" } }, state: { id: "state" } };
const event: SubagentEvent = {
	type: "subagent_start",
	subagentId: "s",
	subagentType: "t",
	parentToolCallId: "c",
	prompt: "go",
	timestamp: 0,
};

test("a tool that declares a second parameter is context-aware, one that hides it does not show", () => {
	expect(isContextAwareTool({ run: (_params: unknown, _context: unknown) => "" })).toBe(true);
	expect(isContextAwareTool({ run: (_params: unknown) => "" })).toBe(false);
	expect(isContextAwareTool({ name: "remote" })).toBe(false);
});

test("tools that accept a context get agent, state, their own call and the listener [UAP-078]", () => {
	const onSubagentEvent = vi.fn();
	const [tool] = injectToolContext([reader], calling, { onSubagentEvent }) as [Tool];
	const [first, second] = [tool.run({}), tool.run({})] as [ToolExecutionContext, ToolExecutionContext];
	expect(first).toEqual({
		agentId: "agent",
		stateId: "state",
		toolCallId: expect.stringMatching(/^[\da-f-]{36}$/),
		onSubagentEvent,
		parentModel: "model",
		parentConfig: { baseUrl: "x" },
	});
	expect(second.toolCallId).not.toBe(first.toolCallId);
	first.onSubagentEvent?.(event);
	expect(onSubagentEvent).toHaveBeenCalledWith(event);
	expect((injectToolContext([reader], calling)[0]?.run({}) as object) ?? {}).not.toHaveProperty(
		"onSubagentEvent",
	);
});

test("tools that accept none get none, all are new objects, and the given ones are unchanged", () => {
	const run = vi.fn((_params: unknown) => "seen");
	const plain: Tool = { name: "plain", ...shape, run };
	const given = [reader, plain];
	const injected = injectToolContext(given, calling);
	expect(injected.map(({ name, description, parameters }) => ({ name, description, parameters }))).toEqual(
		given.map(({ name, description, parameters }) => ({ name, description, parameters })),
	);
	for (const [at, tool] of injected.entries()) expect(tool).not.toBe(given[at]);
	expect(injected[1]?.run({ a: 1 })).toBe("seen");
	expect(run.mock.calls).toEqual([[{ a: 1 }]]);
	expect(reader.run({})).toBeUndefined();
});

test("values from the call itself take precedence, and every listener gets events of sub-agents", () => {
	const [here, there] = [vi.fn(), vi.fn()];
	const [tool] = injectToolContext([reader], calling, { onSubagentEvent: here }) as [Tool];
	const context = tool.run(
		{},
		{ toolCallId: "call", agentId: "inner", onSubagentEvent: there },
	) as ToolExecutionContext;
	expect(context).toMatchObject({ toolCallId: "call", agentId: "inner", stateId: "state" });
	context.onSubagentEvent?.(event);
	expect([here.mock.calls, there.mock.calls]).toEqual([[[event]], [[event]]]);
});

test("a tool of a class keeps its methods and their state", () => {
	class Counter implements Tool {
		readonly name = "counter";
		readonly description = "Counts.";
		readonly parameters = { type: "object" };
		#count = 0;
		run(_params: unknown, _context: unknown) {
			return ++this.#count;
		}
		approval() {
			return this.#count < 1;
		}
	}
	const [tool] = injectToolContext([new Counter()], calling) as [Tool];
	expect([tool.approval?.({}), tool.run({}), tool.approval?.({})]).toEqual([true, 1, false]);
});

test("withToolContext creates a tool from a handler that gets parameters and context", async () => {
	const handler = vi.fn(async (_params: unknown, context?: ToolExecutionContext) => context?.agentId);
	const tool = withToolContext(reader, handler);
	expect(tool).toMatchObject({ name: "reader", ...shape });
	expect(tool).not.toBe(reader);
	expect(isContextAwareTool(tool)).toBe(true);
	const [injected] = injectToolContext([tool], calling) as [Tool];
	expect(await injected.run({ a: 1 })).toBe("agent");
	expect(handler.mock.calls[0]?.[0]).toEqual({ a: 1 });
});

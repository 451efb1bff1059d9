import { expect, test } from "vitest";
import { injectToolContext, isContextAwareTool, withToolContext } from "./tool-context.ts";
import type { ToolContext } from "./types.ts";

const reader = { name: "reader", run: (_: unknown, context?: Partial<ToolContext>) => context };

test("a tool that declares a second parameter is context-aware, one that hides it does not show", () => {
	expect(isContextAwareTool({ run: (_params: unknown, _context: unknown) => "" })).toBe(true);
	expect(isContextAwareTool({ run: (_params: unknown) => "" })).toBe(false);
	expect(isContextAwareTool({ name: "remote" })).toBe(false);
});

test("injection copies: two agents' copies of one tool have their own context, the tool none", () => {
	const [first] = withToolContext([reader], { agentId: "one" });
	const second = injectToolContext(reader, { agentId: "two" });
	expect(first?.run({})).toMatchObject({ agentId: "one" });
	expect(second.run({})).toMatchObject({ agentId: "two" });
	expect(reader.run({})).toBeUndefined();
	expect(first).not.toBe(reader);
});

test("the context of the call itself comes first, and is read lazily", () => {
	const injected = injectToolContext(reader, { agentId: "outer", stateId: "state" });
	let read = 0;
	class Own {
		readonly agentId = "inner";
		readonly #messages = ["hello"];
		get messages() {
			read++;
			return this.#messages;
		}
		emit() {
			return this.#messages.length;
		}
	}
	const context = injected.run({}, new Own() as Partial<ToolContext>);
	expect([context?.agentId, context?.stateId, read]).toEqual(["inner", "state", 0]);
	expect(context?.messages).toEqual(["hello"]);
	expect(context?.emit?.("")).toBe(1);
	expect({ ...context }).toMatchObject({ agentId: "inner", stateId: "state", messages: ["hello"] });
});

test("a tool without run stays what it is", () => {
	const remote = { name: "remote" };
	expect(injectToolContext(remote, {})).toBe(remote);
});

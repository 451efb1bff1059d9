// Calls that need an outside answer, in runs that cannot wait: refused with a code, never as if a person had denied them.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import { loop } from "../strategies/loop.ts";
import { react } from "../strategies/react.ts";
import type { AnyTool } from "../tools/types.ts";
import { Agent } from "./agent.ts";
import { createSubAgentTool } from "./create-sub-agent-tool.ts";

const remove: AnyTool = {
	name: "remove",
	description: "Removes a file.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => {
		throw new Error("it ran");
	},
};
const locate: AnyTool = { name: "locate", description: "Where the user is.", parameters: { type: "object" } };
const tools = [remove, locate];
const asking = (name: string): ScriptedModel => scriptedModel([{ toolCalls: [{ name }] }, "done", "done"]);
const initial = AgentState.initial();

describe.each([
	["approval_unavailable", "remove"],
	["remote_tool_unavailable", "locate"],
])("%s", (code, name) => {
	/** What the model and the caller see of a call that could not wait. */
	function expectRefused(model: ScriptedModel): void {
		const shown = JSON.stringify(model.requests.at(-1)?.messages);
		expect(shown).toContain(`was not run`);
		expect(shown).toContain("Run the agent in a session");
		expect(shown).toContain(`(${code})`);
		expect(shown).not.toContain("not approved");
	}

	test("is the result of the call in `generate` and `query`", async () => {
		const [one, other] = [asking(name), asking(name)];
		const { turn } = await new Agent({ model: one, tools }).generate("go", initial);
		for (const each of [turn, await new Agent({ model: other, tools }).query("go")]) {
			expect(each.toolExecutions).toMatchObject([{ isError: true, result: expect.stringContaining(code) }]);
			expect(each.toolExecutions[0]).not.toHaveProperty("approved");
		}
		expectRefused(one);
		expectRefused(other);
	});

	test("is the result of the call in `ask` and `stream`", async () => {
		const asked = asking(name);
		await new Agent({ model: asked, tools }).ask("go", initial);
		expectRefused(asked);
		const streamed = asking(name);
		for await (const _ of new Agent({ model: streamed, tools }).stream("go", initial));
		expectRefused(streamed);
	});

	test.each([loop(), react()])("is the result of the call under a strategy", async (execution) => {
		const model = scriptedModel(({ messages }) =>
			messages.some(({ type }) => type === "tool_result") ? "done" : { text: "Hm.", toolCalls: [{ name }] },
		);
		await new Agent({ model, tools, execution }).generate("go", initial);
		expectRefused(model);
	});

	test("is what the model of a sub-agent reads in a plain call", async () => {
		const model = asking(name);
		const child = new Agent({ model, tools });
		const explore = createSubAgentTool({
			agent: child,
			name: "explore",
			description: "Explores.",
			parameters: { type: "object", properties: { task: { type: "string" } } },
		});
		const parent = new Agent({
			model: scriptedModel([{ toolCalls: [{ name: "explore", arguments: { task: "go" } }] }, "done"]),
			tools: [explore],
		});
		await parent.generate("go", initial);
		expectRefused(model);
	});
});

test("a call that its tool denies has the outcome denied", async () => {
	const model = asking("remove");
	const { turn } = await new Agent({ model, tools: [{ ...remove, approval: () => false }] }).generate(
		"go",
		initial,
	);
	expect(turn.toolExecutions).toMatchObject([{ approved: false, isError: true }]);
	expect(JSON.stringify(model.requests[1])).toContain("was not approved");
});

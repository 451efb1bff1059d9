import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent, agent } from "../agent/agent.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { calls, eventsOf, family, helper, outputsOf } from "./delegate.fixture.ts";

const model = scriptedModel(["said"]);

function refusal(make: () => unknown): string {
	try {
		make();
	} catch (error) {
		expect(error).toBeInstanceOf(TypeError);
		return (error as TypeError).message;
	}
	throw new Error("it was not refused");
}

describe("an agent in `subagents`", () => {
	test("without a name or a description is rejected, by its position and the missing member [SES-050]", () => {
		const named = helper("one", []);
		const refuse = (bad: Agent): string => refusal(() => new Agent({ model, subagents: [named, bad] }));
		expect(refuse(new Agent({ model, description: "Helps." }))).toMatch(/subagents\[1\] has no `name`/);
		expect(refuse(new Agent({ model, name: "", description: "Helps." }))).toMatch(/subagents\[1\].*`name`/);
		expect(refuse(new Agent({ model, name: "two" }))).toMatch(
			/subagents\[1\] \("two"\) has no `description`/,
		);
		expect(refuse(new Agent({ model, name: "two", description: " " }))).toMatch(/`description`/);
	});

	test("needs a name that is valid as a tool name, of at most 64 characters [SES-051]", () => {
		const refuse = (name: string): string => refusal(() => family([], [helper(name, [])]));
		for (const name of ["Upper", "1st", "a b", "a.b", "a/b", "ä", `a${"b".repeat(52)}`]) {
			expect(refuse(name)).toContain(`"${name}", which is not valid in a tool name`);
		}
		expect(family([], [helper(`a${"b".repeat(51)}`, [])]).parent).toBeInstanceOf(Agent);
	});

	test("must not need a tool name that another sub-agent or one of the tools has [SES-051]", () => {
		expect(refusal(() => family([], [helper("a-b", []), helper("a_b", [])]))).toMatch(
			/subagents\[1\] \("a_b"\) needs the tool name delegate_to_a_b/,
		);
		const own = { name: "delegate_to_a", description: "", run: () => "" };
		expect(refusal(() => family([], [helper("a", [])], { tools: [own] }))).toMatch(/Rename one of them/);
		expect(refusal(() => family([], [helper("a", [])], { tools: { delegate_to_a: own } }))).toMatch(/Rename/);
		for (const name of ["background_output", "background_cancel"]) {
			const reserved = () => family([], [helper("a", [])], { tools: [{ ...own, name }] });
			expect(refusal(reserved)).toContain(`\`tools\` has "${name}"`);
		}
	});

	test("must be an agent, of a kind that can run in a session", () => {
		expect(refusal(() => new Agent({ model, subagents: {} as never }))).toMatch(/must be an array/);
		expect(refusal(() => new Agent({ model, subagents: [{ name: "a" } as never] }))).toMatch(
			/subagents\[0\]/,
		);
		const custom = { name: "custom", execute: async () => ({}) as never, stream: () => ({}) as never };
		const opaque = agent({ model, name: "a", description: "Helps.", execution: custom });
		expect(refusal(() => new Agent({ model, subagents: [opaque] }))).toMatch(/`execution`/);
		// It has the decision of a built-in strategy, but does not run by it.
		const changed = agent({ model, name: "a", description: "Helps.", execution: { ...react(), ...custom } });
		expect(refusal(() => new Agent({ model, subagents: [changed] }))).toMatch(/`execution`/);
	});

	test.each([loop(), react(), plan()])(
		"can run with any strategy that decides ($name)",
		async (execution) => {
			const steps = '{"steps":[{"id":"one","description":"Look.","tool":null,"dependsOn":[]}]}';
			const child = helper("child", execution.name === "plan" ? [steps, "found"] : ["found", "found"], {
				execution,
			});
			const { parent } = family([calls(["delegate_to_child", { prompt: "Look." }]), "said"], [child]);
			const run = await parent.session("s").send("go");
			expect(outputsOf(await eventsOf(run))).toEqual([{ status: "completed", text: "found" }]);
			expect(await run.result()).toMatchObject({ outcome: "completed", text: "said" });
		},
	);

	test("is rejected for an agent whose model is a function, which has its own tools", () => {
		const options = { model: (async () => []) as never, subagents: [helper("a", [])] };
		expect(refusal(() => agent(options))).toMatch(/`subagents` cannot be given with a function as `model`/);
	});

	test("stays an option that a spread passes on", async () => {
		const { parent } = family([], [helper("a", [])]);
		const spread = scriptedModel(["said"]);
		await (await agent({ ...parent, model: spread }).send("go")).result();
		expect(spread.requests[0]?.tools?.map(({ name }) => name)).toContain("delegate_to_a");
	});
});

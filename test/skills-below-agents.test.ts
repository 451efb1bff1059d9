// The `allowed-tools` of a skill that an agent has loaded hold for the calls of its scripts, and of the sub-agents under its
// policy: in sessions and calls, and at any depth.
import { skills } from "@holdfast/context";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, createSubAgentTool, memoryHost, tool } from "holdfast";
import { definePlugin } from "holdfast/plugins";
import { describe, expect, test } from "vitest";

const parameters = { type: "object", properties: {} } as const;
const text =
	"---\nname: inspect\ndescription: Inspects logs.\nallowed-tools: read_log run_code clerk\n---\nRead the log.\n";
const plugins = [skills({ sources: [{ text }] })];
const ask = (name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ name, arguments: args as never }],
});

const toolsThat = (ran: (name: string) => void) =>
	["read_log", "erase"].map((name) => {
		const run = () => {
			ran(name);
			return `ran ${name}`;
		};
		return tool({ name, description: name, parameters, run });
	});

type Tools = NonNullable<AgentOptions["tools"]> & readonly unknown[];
const code = `const outcomes = [];
for (const name of ["read_log", "erase"])
	await tools[name]({}).then((value) => outcomes.push(value), (error) => outcomes.push(error.message));
return outcomes;`;
const clerkUnder = (policy: "own" | "caller", tools: Tools, calls: readonly ScriptedReply[]) => {
	const agent = new Agent({ model: scriptedModel([...calls, "Done.", ...calls, "Done."]), tools });
	return createSubAgentTool({ agent, name: "clerk", description: "Asks the clerk.", parameters, policy });
};
const bothCalls = [ask("read_log"), ask("erase")];

/** The tools of the agent that has loaded the skill, and the call with which it works. */
const ways: Readonly<
	Record<string, (tools: Tools) => { readonly tool: Tools[number]; call: ScriptedReply }>
> = {
	"a script": (tools) => ({ tool: codeMode({ tools: tools as never }), call: ask("run_code", { code }) }),
	"a sub-agent": (tools) => ({ tool: clerkUnder("caller", tools, bothCalls), call: ask("clerk") }),
	"a script of a sub-agent": (tools) => ({
		tool: clerkUnder("caller", [codeMode({ tools: tools as never })], [ask("run_code", { code })]),
		call: ask("clerk"),
	}),
	"a sub-agent of a script": (tools) => ({
		tool: codeMode({ tools: [clerkUnder("caller", tools, bothCalls)] }),
		call: ask("run_code", { code: "return await tools.clerk({});" }),
	}),
};

function office(way: string, plugin = plugins) {
	const ran: string[] = [];
	const { tool: used, call } = (ways[way] as (typeof ways)[string])(toolsThat((name) => ran.push(name)));
	const model = scriptedModel([ask("load_skill", { name: "inspect" }), call, "Done.", call, "Done."]);
	return { ran, agent: new Agent({ model, tools: [used as never], plugins: plugin, host: memoryHost() }) };
}

describe.each(Object.keys(ways))("%s of an agent", (way) => {
	test("is limited in the turn that has loaded the skill, and not afterwards", async () => {
		const { ran, agent } = office(way);
		await (await agent.session("ann").send("go")).result();
		expect(ran).toEqual(["read_log"]);
		await (await agent.session("ann").send("again")).result();
		expect(ran).toContain("erase");
	});

	test("is limited in a call", async () => {
		const { ran, agent } = office(way);
		await agent.generate("go");
		expect(ran).toEqual(["read_log"]);
	});

	test("tells a plugin of the agent which session the agent works in", async () => {
		const keys = new Set<string>();
		const seen = definePlugin({
			setup: (host) => host.on("tool.call", ({ agentSessionKey }) => void keys.add(agentSessionKey)),
		});
		const { agent } = office(way, [...plugins, seen]);
		await (await agent.session("ann").send("go")).result();
		expect([...keys]).toEqual(["ann"]);
		keys.clear();
		await agent.generate("go");
		expect(keys.size).toBe(1);
	});
});

test("a sub-agent under its own policy is not limited", async () => {
	const ran: string[] = [];
	const clerk = clerkUnder(
		"own",
		toolsThat((name) => ran.push(name)),
		bothCalls,
	);
	const model = scriptedModel([ask("load_skill", { name: "inspect" }), ask("clerk"), "Done."]);
	await new Agent({ model, tools: [clerk], plugins }).generate("go");
	expect(ran).toEqual(["read_log", "erase"]);
});

import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { logging } from "../policy/middleware/logging.ts";
import { anyTool } from "./agent.fixture.ts";
import { Agent, agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

const store = { save: async () => {}, load: async () => null };

test.each([
	["middleware", "`middleware`", logging()],
	["middleware", "`middleware`", {}],
	["middleware", "`middleware[1]`", [logging(), logging]],
	["middleware", "`middleware[0]`", ["logging"]],
	["middleware", "`middleware[0]`", [{}]],
	["middleware", "`middleware[0].before`", [{ name: "one", before: 5 }]],
	["checkpoints", "`checkpoints`", "./checkpoints"],
	["checkpoints", "`checkpoints`", () => store],
	["checkpoints", "`checkpoints.save`", { load: store.load }],
	["checkpoints", "`checkpoints.load`", { save: store.save }],
	["prices", "`prices`", 5],
	["prices", "`prices`", [{ input: 1, output: 1 }]],
	["prices", '`prices["m"]`', { m: 3 }],
	["prices", '`prices["m"].output`', { m: { input: 1 } }],
	["prices", '`prices["m"].input`', { m: { input: "1", output: 1 } }],
	["prices", '`prices["m"].cacheRead`', { m: { input: 1, output: 1, cacheRead: Number.NaN } }],
	["strategy", "`strategy`", "loop"],
	["strategy", "`strategy`", null],
	["strategy", "`strategy`", () => ({})],
	["strategy", "`strategy.onStepEnd`", { onStepEnd: 5 }],
])("an invalid `%s` is a TypeError that names %s", (option, place, value) => {
	const options = { model: scriptedModel([]), [option]: value } as unknown as AgentOptions;
	for (const make of [() => new Agent(options), () => agent({ ...options })]) {
		expect(make).toThrow(TypeError);
		expect(make).toThrow(`The option ${place} `);
	}
});

test("objects with functions on a prototype, and undefined options, are accepted", () => {
	class Hooks {
		onStepStart(): void {}
	}
	class Store {
		async save(): Promise<void> {}
		async load(): Promise<null> {
			return null;
		}
	}
	const options = {
		model: scriptedModel([]),
		strategy: new Hooks(),
		middleware: [{ name: "quiet" }],
		checkpoints: new Store(),
		prices: { m: { input: 0, output: 1.5 }, n: { input: 1, output: 2, cacheRead: 0, cacheWrite: undefined } },
	};
	expect(() => agent(options as never)).not.toThrow();
	expect(() => agent({ model: scriptedModel([]), middleware: undefined } as never)).not.toThrow();
});

test("a tool that depends on a missing tool is rejected, with the names that the agent has", async () => {
	const write = { ...anyTool("write", () => "written"), dependsOn: ["raed"] };
	const read = anyTool("read", () => "read");
	const model = scriptedModel([]);
	expect(() => new Agent({ model, tools: [read, write] })).toThrow(
		expect.objectContaining({
			code: "invalid_tool",
			message:
				'The tool "write" depends on "raed", which is not a tool of the agent. Its tools: read, write.',
		}),
	);
	const helper = new Agent({ name: "my-helper", description: "Helps.", model });
	const after = { ...write, dependsOn: ["delegate_to_my_helper", "read", "background_output"] };
	for (const tools of [[read, after], { read, write: after }])
		await new Agent({ model, tools, subagents: [helper] }).close();
	expect(() => new Agent({ model, tools: [read, after] })).toThrow(/depends on "delegate_to_my_helper"/);
});

// What document 1 asks of the package as a whole, seen through its documented entries only.
import { fileURLToPath } from "node:url";
import * as checkpoint from "@holdfast/stores/checkpoint";
import { scriptedModel } from "@holdfast/testing";
import * as upp from "@holdfast/upp";
import * as main from "holdfast";
import * as execution from "holdfast/execution";
import * as middleware from "holdfast/middleware";
import { describe, expect, test } from "vitest";
import { runCommand } from "../tools/run-command.ts";

const { agent, AgentState, ThreadTree } = main;
const root = fileURLToPath(new URL("..", import.meta.url));
const entries = {
	holdfast: main,
	"holdfast/execution": execution,
	"holdfast/middleware": middleware,
	"@holdfast/stores/checkpoint": checkpoint,
};

describe("the entry points", () => {
	test.each(Object.entries(entries))("%s exports no name of the model layer [UAP-001]", (_, entry) => {
		// The errors of the house live in its lowest package, and are no names of the model layer.
		const own = ["HoldfastError", "isHoldfastError"];
		const shared = Object.keys(entry).filter((name) => name in upp && !own.includes(name));
		expect(shared).toEqual([]);
		const providers = [
			"llm",
			"Thread",
			"Turn",
			"UserMessage",
			"Tool",
			"UPPError",
			"openai",
			"anthropic",
			"google",
		];
		for (const name of providers) expect(entry).not.toHaveProperty(name);
	});

	test.each([
		["holdfast", ["agent", "AgentState", "ThreadTree", "ThreadNode"]],
		["holdfast/execution", ["loop", "react", "plan"]],
		["holdfast/middleware", ["logging"]],
		["@holdfast/stores/checkpoint", ["fileCheckpoints"]],
	])("%s can be imported alone and exports the documented names [UAP-010]", async (entry, names) => {
		const source = `console.log(JSON.stringify(Object.entries(await import("${entry}")).map(([name, value]) => [name, typeof value])))`;
		const { code, output } = await runCommand(
			[
				process.execPath,
				"--conditions=holdfast-source",
				"--no-warnings",
				"--input-type=module",
				"-e",
				source,
			],
			{ folder: root, timeout: 60_000 },
		);
		expect(code, output).toBe(0);
		const exported = new Map(JSON.parse(output) as [string, string][]);
		for (const name of names) expect(exported.get(name), name).toBe("function");
	});

	test("the checkpoint entry exports the type of stores [UAP-010]", async () => {
		const none: checkpoint.CheckpointStore = {
			save: async () => {},
			load: async () => null,
			delete: async () => {},
			list: async () => [],
		};
		expect(await none.list()).toEqual([]);
	});
});

describe("each level of conformance works through the documented entry points", () => {
	const look = { name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" };
	const calling = { toolCalls: [{ name: "look" }] };

	test("level 1, an agent: generate, stream, ask, query, immutable states, loop(), a plain turn [UAP-147]", async () => {
		const model = scriptedModel([calling, "one", calling, "two", "three", "four"]);
		const coder = agent({ model, tools: [look], system: "Be brief.", execution: execution.loop() });
		const s0 = AgentState.initial();
		const first = await coder.generate("go", s0);
		const plain = await upp.llm({ model: scriptedModel(["one"]) }).generate("go");
		expect(Object.keys(first.turn).sort()).toEqual(Object.keys(plain).sort());
		expect([first.turn.response.text, first.state.step, s0.messages.length]).toEqual(["one", 2, 0]);
		const stream = coder.stream("go", first.state);
		const sources = new Set<string>();
		for await (const { source } of stream) sources.add(source);
		expect(sources).toEqual(new Set(["uap", "upp"]));
		const second = await stream.result;
		expect(second.state.messages).toHaveLength(8);
		expect((await coder.ask("go", second.state)).state.messages).toHaveLength(10);
		expect((await coder.query("go")).response.text).toBe("four");
	});

	test("level 2, strategies: react(), plan() and a custom one, none with a limit [UAP-147]", async () => {
		const steps = Array.from({ length: 40 }, (_, at) => ({ id: `s${at}`, description: `Step ${at}.` }));
		const thinking = scriptedModel((_, call) => (call % 2 === 0 ? "I look." : call < 60 ? calling : "done"));
		const careful = agent({ model: thinking, tools: [look], execution: execution.react() });
		const thought = await careful.generate("go", AgentState.initial());
		expect([thought.state.step, thought.state.reasoning.length]).toEqual([31, 31]);
		const planning = scriptedModel((_, call) =>
			call === 0 ? { data: { steps }, text: JSON.stringify({ steps }) } : "done",
		);
		const thorough = agent({ ...careful, model: planning, execution: execution.plan() });
		const planned = await thorough.generate("go", AgentState.initial());
		expect(planned.state.plan?.every(({ status }) => status === "completed")).toBe(true);
		const echo: execution.ExecutionStrategy = {
			name: "echo",
			async execute({ llm, input, state }) {
				const turn = await llm.generate(state.messages, input);
				return { turn, state: state.withMessages(turn.messages).withStep(1) };
			},
			stream: (context) => execution.loop().stream(context),
		};
		const own = agent({ model: scriptedModel(["mine"]), execution: echo });
		expect((await own.query("go")).response.text).toBe("mine");
	});

	test("level 3, thread trees: branches, checkout, histories [UAP-147]", async () => {
		const tree = new ThreadTree();
		const talker = agent({ model: scriptedModel((request) => `answer ${request.messages.length}`) });
		tree.current.state = (await talker.ask("root", tree.current.state)).state;
		const [left, right] = [tree.branch(tree.root.id, "left"), tree.branch(tree.root.id, "right")];
		tree.checkout(left);
		tree.current.state = (await talker.ask("left", tree.current.state)).state;
		tree.checkout(right);
		expect(tree.history().messages).toHaveLength(2);
		tree.checkout(left);
		const restored = ThreadTree.fromJSON(JSON.parse(JSON.stringify(tree.toJSON())));
		expect(restored.current.name).toBe("left");
		expect(restored.history().messages.map(({ id }) => id)).toEqual(
			tree.history().messages.map(({ id }) => id),
		);
		expect(restored.history().messages).toHaveLength(4);
	});

	test("level 4, middleware: a pipeline, logging() and a custom one [UAP-147]", async () => {
		const logged: string[] = [];
		const order: string[] = [];
		const noting = (name: string) => ({
			name,
			before: () => void order.push(`before ${name}`),
			after: (_: unknown, result: main.GenerateResult) => {
				order.push(`after ${name}`);
				return result;
			},
		});
		const logger = (line: unknown) => void logged.push(String(line));
		const watched = agent({
			model: scriptedModel(["hello"]),
			middleware: [middleware.logging({ logger: logger as never }), noting("a"), noting("b")],
		});
		expect((await watched.query("go")).response.text).toBe("hello");
		expect(order).toEqual(["before a", "before b", "after b", "after a"]);
		expect(logged).toHaveLength(2);
	});
});

// What the types of agents say of tools and outputs: in results, events and messages of pages.

import { scriptedModel } from "@holdfast/testing";
import type { Turn } from "@holdfast/upp";
import { tool as aiSdkTool, jsonSchema, type UIDataTypes, type UIMessage } from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createSession, execute } from "../execute/create-session.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { drain } from "../sessions/drain.ts";
import { AgentState } from "../state/agent-state.ts";
import { createSimpleTool, tool } from "../tools/tool.ts";
import type { InferToolInput, InferToolOutput } from "../tools/tool-types.ts";
import { Agent, agent } from "./agent.ts";
import type { InferOutput, InferTools } from "./agent-types.ts";

const model = scriptedModel([]);

const weather = tool({
	name: "weather",
	description: "",
	parameters: z.object({ city: z.string(), days: z.number().default(1) }),
	run: async ({ city, days }) => ({ city, celsius: days, at: new Date() }),
});
const search = tool({
	name: "search",
	description: "",
	parameters: z.object({ query: z.string() }),
	run: ({ query }) => [query],
});
const answer = z.object({ city: z.string(), celsius: z.number() });
type Answer = { city: string; celsius: number };

const clerk = agent({ model, tools: [weather, search], output: answer });

test("a tool keeps the types of its name, input and output", () => {
	expectTypeOf(weather.name).toEqualTypeOf<"weather">();
	expectTypeOf<InferToolInput<typeof weather>>().toEqualTypeOf<{ city: string; days: number }>();
	expectTypeOf<InferToolOutput<typeof weather>>().toEqualTypeOf<{
		city: string;
		celsius: number;
		at: string;
	}>();
	const plain = { name: "plain", parameters: { type: "object" }, run: ({ a }: { a: number }) => a };
	expectTypeOf<InferToolInput<typeof plain>>().toEqualTypeOf<{ a: number }>();
	expectTypeOf<InferToolOutput<typeof plain>>().toEqualTypeOf<number>();
	const silent = tool({ name: "silent", description: "", parameters: z.object({}), run: () => {} });
	expectTypeOf<InferToolOutput<typeof silent>>().toEqualTypeOf<"">();
	const spoken = tool({
		name: "spoken",
		description: "",
		parameters: z.object({}),
		async *run() {
			yield "a";
		},
	});
	expectTypeOf<InferToolOutput<typeof spoken>>().toEqualTypeOf<string>();
	const simple = createSimpleTool({ name: "simple", parameters: {} }, async (_, { a }: { a: number }) => ({
		output: String(a),
	}));
	expectTypeOf<InferToolInput<typeof simple>>().toEqualTypeOf<{ a: number }>();
	const theirs = aiSdkTool({
		inputSchema: z.object({ a: z.number() }),
		execute: async ({ a }) => ({ b: a }),
	});
	expectTypeOf<InferToolInput<typeof theirs>>().toEqualTypeOf<{ a: number }>();
});

test("the output of an agent is typed in calls, streams and sessions", async () => {
	expectTypeOf((await clerk.generate("go")).output).toEqualTypeOf<Answer>();
	expectTypeOf((await clerk.ask("go", AgentState.initial())).output).toEqualTypeOf<Answer>();
	expectTypeOf((await clerk.query("go")).data).toEqualTypeOf<Answer | undefined>();
	expectTypeOf((await clerk.stream("go").result).output).toEqualTypeOf<Answer>();
	const run = await clerk.session("s").send("go");
	expectTypeOf((await run.result()).output).toEqualTypeOf<Answer | undefined>();
	expectTypeOf<InferOutput<typeof clerk>>().toEqualTypeOf<Answer>();
	expectTypeOf((await new Agent({ model, output: answer }).generate("go")).output).toEqualTypeOf<Answer>();
	expectTypeOf(
		(await (await Agent.create({ model, output: answer })).generate("go")).output,
	).toEqualTypeOf<Answer>();
});

test("a call can have its own output, and without one its type is unknown", async () => {
	const free = agent({ model });
	const list = await free.generate("go", AgentState.initial(), { output: z.array(z.string()) });
	expectTypeOf(list.output).toEqualTypeOf<string[]>();
	expectTypeOf((await free.generate("go")).output).toEqualTypeOf<unknown>();
	expectTypeOf((await free.generate("go")).turn).toEqualTypeOf<Turn>();
	// @ts-expect-error a number is no schema
	agent({ model, output: 5 });
});

test("inline JSON Schema and the AI SDK's schemas are typed", async () => {
	const { output } = await agent({
		model,
		output: {
			type: "object",
			properties: {
				city: { type: "string" },
				unit: { enum: ["c", "f"] },
				days: { type: "array", items: { type: "integer" } },
				note: { type: ["string", "null"] },
			},
			required: ["city", "unit", "days"],
		},
	}).generate("go");
	expectTypeOf(output.city).toEqualTypeOf<string>();
	expectTypeOf(output.unit).toEqualTypeOf<"c" | "f">();
	expectTypeOf(output.days).toEqualTypeOf<number[]>();
	expectTypeOf(output.note).toEqualTypeOf<string | null | undefined>();
	const theirs = agent({ model, output: jsonSchema<{ a: number }>({ type: "object" }) });
	expectTypeOf((await theirs.generate("go")).output).toEqualTypeOf<{ a: number }>();
	const loose: { type: string } = { type: "object" };
	expectTypeOf((await agent({ model, output: loose }).generate("go")).output).toEqualTypeOf<unknown>();
});

test("the name of a tool determines the input and output types of a session's event", async () => {
	for await (const event of (await clerk.session("s").send("go")).events()) {
		if (event.type === "turn-end") expectTypeOf(event.output).toEqualTypeOf<Answer | undefined>();
		if (event.type === "tool-call") {
			expectTypeOf(event.toolName).toEqualTypeOf<"weather" | "search">();
			if (event.toolName === "weather")
				expectTypeOf(event.input).toEqualTypeOf<{ city: string; days: number }>();
			// @ts-expect-error there is no such tool
			if (event.toolName === "wheather") throw event;
		}
		if (event.type === "tool-result" && event.toolName === "search") {
			if (event.isError === true) expectTypeOf(event.output).toEqualTypeOf<unknown>();
			else expectTypeOf(event.output).toEqualTypeOf<string[]>();
		}
	}
	const named = agent({
		model,
		tools: { found: { description: "", inputSchema: z.object({ q: z.string() }) } },
	});
	for await (const event of (await named.send("go")).events())
		if (event.type === "tool-call" && event.toolName === "found")
			expectTypeOf(event.input).toEqualTypeOf<{ q: string }>();
});

test("the same applies to watchers of a run, and to the stream of a call", async () => {
	for await (const event of (await clerk.send("go")).watch()) {
		if (event.type === "tool_start" && event.toolName === "weather")
			expectTypeOf(event.input).toEqualTypeOf<{ city: string; days: number }>();
		if (event.type === "tool_end" && event.toolName === "search") {
			if (event.outcome === "done") expectTypeOf(event.result).toEqualTypeOf<string[]>();
			else expectTypeOf(event.result).toEqualTypeOf<unknown>();
		}
	}
	for await (const { uap } of clerk.stream("go")) {
		if (uap?.type !== "observation") continue;
		for (const each of uap.data.results)
			if (each.toolName === "search" && !each.isError) expectTypeOf(each.result).toEqualTypeOf<string[]>();
	}
});

test("the events of an agent without types are as wide as before", () => {
	type Call = Extract<AgentEvent, { type: "tool-call" }>;
	expectTypeOf<Call["toolName"]>().toEqualTypeOf<string>();
	expectTypeOf<Call["input"]>().toEqualTypeOf<unknown>();
	const any: Agent = clerk;
	expectTypeOf(any.session("s").send).parameter(0).not.toBeAny();
	const take = (event: AgentEvent): string => event.type;
	void (async () => {
		for await (const event of (await clerk.send("go")).events()) take(event);
	});
	void clerk.send("go").then((run) => drain(run));
	agent({ model, subagents: [clerk] });
	agent({ ...clerk, instructions: "Be brief." });
});

test("executions are typed by the options of their session", async () => {
	const session = createSession("s", { tools: [weather] }, { model, output: answer });
	const stream = execute(session, "go");
	expectTypeOf((await stream.result()).output).toEqualTypeOf<Answer | undefined>();
	for await (const event of stream) {
		if (event.type !== "tool_execution_start") continue;
		expectTypeOf(event.toolName).toEqualTypeOf<"weather">();
		expectTypeOf(event.args).toEqualTypeOf<{ city: string; days: number }>();
	}
});

test("page messages are typed by the agent's tools", () => {
	type Message = UIMessage<unknown, UIDataTypes, InferTools<typeof clerk>>;
	type Part = Extract<Message["parts"][number], { type: "tool-weather"; state: "output-available" }>;
	expectTypeOf<Part["input"]>().toEqualTypeOf<{ city: string; days: number }>();
	expectTypeOf<Part["output"]>().toEqualTypeOf<{ city: string; celsius: number; at: string }>();
});

test("an unknown option name is reported with the library that has it", () => {
	// @ts-expect-error Type 'string' is not assignable to type '"Write `system`."'
	agent({ model, instruction: "Be brief." });
	// @ts-expect-error write `tools`
	agent({ model, tool: [weather] });
	// @ts-expect-error write `system`
	agent({ model, systemPrompt: "Be brief." });
	// @ts-expect-error write `maxSteps`
	agent({ model, maxStep: 3 });
	// @ts-expect-error settings of the model belong in `params`
	agent({ model, temperature: 0 });
	// @ts-expect-error no option has this name
	agent({ model, somethingNew: 3 });
});

// What the types of tools promise: arguments inferred from a schema, and every kind of tool accepted in a list.

import type { Tool } from "@holdfast/upp";
import { tool as aiSdkTool, jsonSchema, type UIDataTypes, type UIMessage } from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { agent } from "../agent/agent.ts";
import type { InferTools } from "../agent/agent-types.ts";
import { normaliseTools } from "./normalise-tool.ts";
import { type AgentTool, createSimpleTool, tool } from "./tool.ts";
import type { InferToolInput, InferToolOutput } from "./tool-types.ts";
import type { AnyTool, ToolContext, ToolSet } from "./types.ts";

test("the arguments of run are the output of a Standard Schema", () => {
	const weather = tool({
		name: "weather",
		description: "The weather.",
		parameters: z.object({
			city: z.string(),
			days: z.string().transform(Number).default(1),
			unit: z.enum(["c", "f"]).optional(),
		}),
		run(params, context) {
			expectTypeOf(params).toEqualTypeOf<{ city: string; days: number; unit?: "c" | "f" | undefined }>();
			expectTypeOf(context).toEqualTypeOf<ToolContext>();
			return params.city;
		},
		approval: ({ city }) => city !== "",
	});
	expectTypeOf(weather).toExtend<Tool>();
	expectTypeOf(weather).toExtend<AnyTool>();
	tool({
		name: "search",
		description: "",
		inputSchema: z.object({ query: z.string() }),
		run: ({ query }) => {
			expectTypeOf(query).toEqualTypeOf<string>();
		},
	});
	tool({
		name: "search",
		description: "",
		parameters: z.object({ query: z.string() }),
		// @ts-expect-error the schema has no such property
		run: ({ term }) => term,
	});
});

test("with plain JSON Schema the type is given, or inferred from run", () => {
	const parameters = { type: "object", properties: { city: { type: "string" } } };
	tool<{ city: string }>({
		name: "weather",
		description: "",
		parameters,
		run: (params) => expectTypeOf(params).toEqualTypeOf<{ city: string }>(),
	});
	const annotated = tool({
		name: "weather",
		description: "",
		parameters,
		run: ({ city }: { city: string }) => city,
	});
	expectTypeOf(annotated.run).parameter(0).toEqualTypeOf<{ city: string }>();
	tool({
		name: "weather",
		description: "",
		parameters: { type: "object", properties: {} },
		run: (params) => expectTypeOf(params).toEqualTypeOf<Record<string, unknown>>(),
	});
});

test("a list accepts tools of every kind, a record those of the AI SDK, and neither accepts an agent", () => {
	const parameters = { type: "object" };
	const upp: Tool<{ city: string }> = { name: "a", description: "", parameters, run: ({ city }) => city };
	const simple = createSimpleTool(
		{ name: "b", label: "B", parameters },
		async (_id, { a }: { a: number }) => ({
			output: String(a),
		}),
	);
	const typed = tool({
		name: "c",
		description: "",
		parameters: z.object({ a: z.number() }),
		run: ({ a }) => a,
	});
	const remote = { name: "d", description: "", parameters };
	normaliseTools([upp, simple, typed, remote]);
	normaliseTools({
		zod: aiSdkTool({ description: "", inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a }),
		json: aiSdkTool({ inputSchema: jsonSchema<{ a: number }>({ type: "object" }), execute: ({ a }) => a }),
		remote: aiSdkTool({ inputSchema: z.object({}) }),
	});
	const agent = { name: "helper", generate: () => "", stream: () => "" };
	// @ts-expect-error an agent is not a tool
	normaliseTools([agent]);
	// @ts-expect-error nor is a function that makes one
	normaliseTools([() => upp]);
	expectTypeOf<readonly [typeof upp, typeof typed]>().toExtend<ToolSet>();
});

test("a tool without a function keeps the types of its name and input", () => {
	const locate = tool({
		name: "locate",
		description: "",
		parameters: z.object({ exact: z.boolean() }),
	});
	expectTypeOf(locate.name).toEqualTypeOf<"locate">();
	expectTypeOf<InferToolInput<typeof locate>>().toEqualTypeOf<{ exact: boolean }>();
	expectTypeOf(locate).toExtend<AnyTool>();
});

test("the shapes of the AI SDK and of the API dialect are inferred", () => {
	const search = tool({
		name: "search",
		description: "",
		inputSchema: z.object({ query: z.string() }),
		execute: async ({ query }, { toolCallId, abortSignal }) => {
			expectTypeOf(query).toEqualTypeOf<string>();
			expectTypeOf(toolCallId).toEqualTypeOf<string>();
			expectTypeOf(abortSignal).toEqualTypeOf<AbortSignal>();
			return [query.length];
		},
	});
	expectTypeOf<InferToolInput<typeof search>>().toEqualTypeOf<{ query: string }>();
	expectTypeOf<InferToolOutput<typeof search>>().toEqualTypeOf<number[]>();
	const read = tool({
		name: "read",
		description: "",
		parameters: z.object({ path: z.string() }),
		execute: (id, { path }, { signal }) => {
			expectTypeOf(id).toEqualTypeOf<string>();
			expectTypeOf(path).toEqualTypeOf<string>();
			expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
			return path;
		},
	});
	expectTypeOf<InferToolInput<typeof read>>().toEqualTypeOf<{ path: string }>();
	expectTypeOf<InferToolOutput<typeof read>>().toEqualTypeOf<string>();
	normaliseTools([search, read]);
	// @ts-expect-error one function is enough
	tool({ name: "both", description: "", run: () => 1, execute: () => 2 });
});

test("the AI SDK's parts are typed by the tools of an agent, of a list, and of a list with MCP tools", () => {
	const locate = tool({ name: "locate", description: "", parameters: z.object({ exact: z.boolean() }) });
	const search = tool({ name: "search", description: "", parameters: z.object({}), run: () => 3 });
	const found = {} as { readonly name: string; readonly description: string; run(params: unknown): unknown };
	interface Expected {
		locate: { input: { exact: boolean }; output: unknown };
		search: { input: Record<string, never>; output: number };
	}
	const list = [locate, search] as const;
	const mixed = [locate, found, search];
	const clerk = agent({ tools: [locate, search, found] });
	type Names<Given> = keyof InferTools<Given>;
	expectTypeOf<Names<typeof list>>().toEqualTypeOf<keyof Expected>();
	expectTypeOf<Names<typeof mixed>>().toEqualTypeOf<keyof Expected>();
	expectTypeOf<Names<typeof clerk>>().toEqualTypeOf<keyof Expected>();
	expectTypeOf<InferTools<typeof list>["locate"]>().toEqualTypeOf<Expected["locate"]>();
	expectTypeOf<InferTools<typeof mixed>["search"]["output"]>().toEqualTypeOf<number>();
	type Part = UIMessage<unknown, UIDataTypes, InferTools<typeof clerk>>["parts"][number];
	type Located = Extract<Part, { type: "tool-locate"; state: "input-available" }>;
	expectTypeOf<Located["input"]>().toEqualTypeOf<{ exact: boolean }>();
	expectTypeOf<Extract<Part["type"], `tool-${string}`>>().toEqualTypeOf<"tool-locate" | "tool-search">();
	expectTypeOf<keyof InferTools<readonly (typeof found)[]>>().toEqualTypeOf<string | number>();
});

test("a JSON Schema that a library declares with interfaces is accepted", () => {
	interface TextSchema {
		type: "string";
		minLength?: number;
	}
	interface ObjectSchema<Properties> {
		type: "object";
		properties: Properties;
		required: string[];
	}
	const parameters = {} as ObjectSchema<{ query: TextSchema }>;
	const search: AgentTool = { name: "search", parameters, async *execute() {} };
	expectTypeOf(search.name).toEqualTypeOf<string>();
});

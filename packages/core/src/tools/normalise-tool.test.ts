import { tool as aiSdkTool, jsonSchema } from "ai";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { isLocalTool, normaliseTool, normaliseTools } from "./normalise-tool.ts";
import { runTool } from "./run-tool.ts";
import { createSimpleTool, tool } from "./tool.ts";
import { contextOf } from "./tool-context.fixture.ts";
import type { AnyTool, EngineTool, ToolContext } from "./types.ts";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const uppTool = { name: "weather", description: "The weather.", parameters, run: () => "sunny" };

function codeOf(tools: unknown): { code: string; message: string } {
	try {
		normaliseTools(tools as never);
	} catch (error) {
		return error as { code: string; message: string };
	}
	return { code: "none", message: "" };
}

async function outputOf(engineTool: EngineTool, input: unknown, context?: ToolContext): Promise<unknown> {
	return (await runTool(engineTool, input, context ?? contextOf(), () => {})).output;
}

describe("a UPP tool", () => {
	test("is accepted with defaults, and its run gets arguments and context as a method", async () => {
		const source = {
			...uppTool,
			greeting: "hello",
			run(params: { city: string }, context: ToolContext) {
				return `${this.greeting} ${params.city} ${context.toolCallId}`;
			},
		};
		const engineTool = normaliseTool(source);
		expect(engineTool).toMatchObject({
			name: "weather",
			description: "The weather.",
			kind: "local",
			form: "run",
			sequential: false,
			dependsOn: [],
			retryPolicy: "manual-recovery",
			maxModelCharacters: undefined,
		});
		expect(engineTool.parameters).toBe(parameters);
		expect(engineTool.source).toBe(source);
		expect(await outputOf(engineTool, { city: "Bern" })).toBe("hello Bern call_1");
	});

	test("also gets the context through an optional, a defaulted and a rest parameter [UAP-080]", async () => {
		const runs = [
			(_: unknown, context?: ToolContext) => context?.agentId,
			(_: unknown, context: Partial<ToolContext> = {}) => context.agentId,
			(...all: unknown[]) => (all[1] as ToolContext).agentId,
		];
		for (const run of runs) {
			expect(await outputOf(normaliseTool({ ...uppTool, run }), {}, contextOf({ agentId: "mine" }))).toBe(
				"mine",
			);
		}
	});

	test("is never changed, can be frozen, and a later wrapper is used", async () => {
		const frozen = Object.freeze({ ...uppTool });
		normaliseTool(frozen);
		expect(frozen).toEqual(uppTool);
		const spied = { ...uppTool };
		const engineTool = normaliseTool(spied);
		vi.spyOn(spied, "run").mockReturnValue("rainy");
		expect(await outputOf(engineTool, {})).toBe("rainy");
	});

	test("can reconcile with nothing, a result, an error or retry, and anything else is an error", async () => {
		const call = { idempotencyKey: "k", input: {} };
		const asked = (answer: unknown) =>
			normaliseTool({ ...uppTool, reconcile: () => answer }).reconcile?.(call);
		expect(await asked(undefined)).toBeUndefined();
		expect(await asked({ result: new Date(0) })).toEqual({ result: "1970-01-01T00:00:00.000Z" });
		expect(await asked({ error: "gone" })).toEqual({ error: "gone" });
		expect(await asked({ retry: true })).toEqual({ retry: true });
		for (const other of ["done", {}, { retry: false }]) {
			await expect(asked(other)).rejects.toMatchObject({ code: "invalid_reconciliation" });
		}
	});

	test("keeps its options, approval and reconcile", async () => {
		const engineTool = normaliseTool({
			...uppTool,
			label: "Weather",
			sequential: true,
			dependsOn: ["read"],
			retryPolicy: "idempotent",
			maxModelCharacters: 100,
			readOn: (result: string) => `Read on after ${result.length}.`,
			reconcile: ({ idempotencyKey }) => ({ result: idempotencyKey }),
			approval: async ({ city }: { city: string }) => city === "Bern",
		});
		expect(engineTool).toMatchObject({
			label: "Weather",
			sequential: true,
			dependsOn: ["read"],
			retryPolicy: "idempotent",
			maxModelCharacters: 100,
		});
		expect(engineTool.readOn?.("four")).toBe("Read on after 4.");
		expect(await engineTool.reconcile?.({ idempotencyKey: "k", input: {} })).toEqual({ result: "k" });
		expect(await engineTool.approval?.({ city: "Ulm" }, { toolCallId: "c" })).toBe(false);
		expect(normaliseTool(uppTool).approval).toBeUndefined();
	});

	test("is normalised once, and again when it was changed", () => {
		const source = { ...uppTool, sequential: false };
		const first = normaliseTool(source);
		expect(normaliseTool(source)).toBe(first);
		source.name = "forecast";
		expect(normaliseTool(source).name).toBe("forecast");
		source.sequential = true;
		expect(normaliseTool(source).sequential).toBe(true);
		expect(first).toMatchObject({ name: "weather", sequential: false });
	});
});

describe("a tool of the API dialect", () => {
	test("gets call id, arguments and context", async () => {
		const execute = vi.fn(async () => ({ output: "sunny" }));
		const engineTool = normaliseTool({ name: "weather", label: "Weather", parameters, execute });
		const context = contextOf({ toolCallId: "call_9" });
		expect(engineTool).toMatchObject({ kind: "local", form: "execute", description: "Weather" });
		expect(await outputOf(engineTool, { city: "Bern" }, context)).toBe("sunny");
		expect(execute).toHaveBeenCalledWith("call_9", { city: "Bern" }, context);
	});

	test("is local only if its execute is a function [API-021]", () => {
		expect(normaliseTool({ name: "a", parameters, execute: () => "" }).kind).toBe("local");
		expect(isLocalTool({ name: "a", parameters, execute: () => "" })).toBe(true);
		for (const execute of [undefined, null, "function"]) {
			expect(normaliseTool({ name: "a", parameters, execute }).kind).toBe("remote");
			expect(isLocalTool({ name: "a", parameters, execute })).toBe(false);
		}
		expect(normaliseTool({ name: "a", parameters }).kind).toBe("remote");
	});

	test("that was serialised to JSON is remote and keeps name, label, description and parameters [API-022]", () => {
		const local = { name: "a", label: "A", description: "Does a.", parameters, execute: () => "" };
		const copy = JSON.parse(JSON.stringify(local));
		expect(normaliseTool(local).kind).toBe("local");
		expect(normaliseTool(copy)).toMatchObject({
			kind: "remote",
			name: "a",
			label: "A",
			description: "Does a.",
			parameters,
		});
	});

	test("that is remote still has its arguments checked, and cannot be started", async () => {
		const remote = normaliseTool({ name: "a", parameters });
		expect(remote.validate({})).toMatchObject({ ok: false });
		expect(() => remote.start({}, contextOf())).toThrow(expect.objectContaining({ code: "remote_tool" }));
	});

	test("created by createSimpleTool keeps all config fields and completes once with output and details [API-020]", async () => {
		const config = {
			name: "add",
			label: "Add",
			description: "Adds.",
			parameters,
			retryPolicy: "pure",
		} as const;
		const simple = createSimpleTool(config, async (_id, { a, b }: { a: number; b: number }) => ({
			output: `${a + b}`,
			details: { a },
		}));
		expect(simple).toMatchObject(config);
		const events = [];
		for await (const event of simple.execute("call_1", { a: 1, b: 2 })) events.push(event);
		expect(events).toEqual([{ type: "complete", output: "3", details: { a: 1 } }]);
		const failing = createSimpleTool(config, async () => Promise.reject(new Error("no sums today")));
		expect(await runTool(normaliseTool(failing), {}, contextOf(), () => {})).toMatchObject({
			isError: true,
			output: "no sums today",
		});
	});
});

describe("an AI SDK tool", () => {
	test("in a record is named by its key and gets input and options", async () => {
		const weather = aiSdkTool({
			description: "The weather.",
			inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
			execute: async ({ city, days }, { toolCallId, abortSignal }) =>
				`${city} ${days} ${toolCallId} ${abortSignal?.aborted}`,
		});
		const engineTool = normaliseTools({ weather }).get("weather") as EngineTool;
		expect(engineTool).toMatchObject({ name: "weather", form: "ai-sdk", source: weather, kind: "local" });
		expect(engineTool.parameters).toMatchObject({ required: ["city"] });
		const input = await engineTool.validate({ city: "Bern" });
		expect(input).toEqual({ ok: true, value: { city: "Bern", days: 1 } });
		expect(await outputOf(engineTool, { city: "Bern", days: 1 })).toBe("Bern 1 call_1 false");
	});

	test("can have a jsonSchema() as its schema", async () => {
		const weather = aiSdkTool({
			inputSchema: jsonSchema<{ city: string }>(parameters as never),
			execute: ({ city }) => city,
		});
		const engineTool = normaliseTools({ weather }).get("weather") as EngineTool;
		expect(engineTool.parameters).toEqual(parameters);
		expect(engineTool.validate({ city: 1 })).toMatchObject({
			message: expect.stringContaining("city: expected string, got number (1)"),
		});
	});

	test("that needs approval declares it", async () => {
		const ask = {
			inputSchema: parameters,
			execute: () => "",
			needsApproval: ({ city }: { city: string }) => city === "Ulm",
		};
		const { needsApproval } = normaliseTools({ ask: ask as AnyTool }).get("ask") as EngineTool;
		expect(await needsApproval?.({ city: "Ulm" }, { toolCallId: "c" })).toBe(true);
		expect(await needsApproval?.({ city: "Bern" }, { toolCallId: "c" })).toBe(false);
	});
});

describe("a tool created by tool()", () => {
	const forecast = tool({
		name: "forecast",
		description: "The forecast.",
		parameters: z.object({ city: z.string(), days: z.string().transform(Number).default(2) }),
		run: ({ city, days }) => `${city} ${days + 1}`,
	});

	test("shows JSON Schema, and validates with its own schema, also after a spread", async () => {
		expect(forecast.parameters).toMatchObject({ type: "object", required: ["city"] });
		for (const source of [forecast, { ...forecast, name: "copy" }]) {
			const engineTool = normaliseTool(source);
			const input = engineTool.validate({ city: "Bern", days: "3" });
			expect(input).toEqual({ ok: true, value: { city: "Bern", days: 3 } });
		}
	});

	test("becomes plain JSON Schema in JSON", () => {
		const copy = JSON.parse(JSON.stringify(forecast));
		expect(Object.keys(copy)).toEqual(["name", "description", "parameters"]);
		expect(normaliseTool(copy)).toMatchObject({ kind: "remote", parameters: forecast.parameters });
	});

	test("can have an unconvertible schema together with JSON Schema", () => {
		const inputSchema = z.object({ when: z.coerce.date() });
		expect(() => tool({ name: "a", description: "", parameters: inputSchema, run: () => "" })).toThrow(
			expect.objectContaining({ code: "schema_not_convertible" }),
		);
		const shown = { type: "object", properties: { when: { type: "string" } } };
		const engineTool = normaliseTool(
			tool({ name: "a", description: "", inputSchema, parameters: shown, run: ({ when }) => when.getTime() }),
		);
		expect(engineTool.parameters).toBe(shown);
		expect(engineTool.validate({ when: "2026-01-01" })).toEqual({
			ok: true,
			value: { when: new Date("2026-01-01") },
		});
	});
});

describe("arguments", () => {
	test("that violate JSON Schema are rejected at once, naming the field", () => {
		const outcome = normaliseTool(uppTool).validate({ city: 42 });
		expect(outcome).toEqual({
			ok: false,
			message:
				'Invalid arguments for "weather":\ncity: expected string, got number (42)\nCorrect them and call it again.',
			issues: [{ path: "city", message: "expected string, got number (42)" }],
		});
	});

	test("are checked asynchronously only if the schema is asynchronous, and a check that throws rejects", async () => {
		const slow = z.object({ city: z.string().refine(async (city) => city === "Bern", "unknown city") });
		const pending = normaliseTool({ ...uppTool, parameters: slow }).validate({ city: "Ulm" });
		expect(pending).toBeInstanceOf(Promise);
		expect(await pending).toMatchObject({ issues: [{ path: "city", message: "unknown city" }] });
		const broken = z.string().refine(() => {
			throw new Error("broken check");
		});
		expect(await normaliseTool({ ...uppTool, parameters: broken }).validate("a")).toMatchObject({
			ok: false,
			message: expect.stringContaining("broken check"),
		});
	});

	test("of a tool without parameters can be any object", () => {
		const { parameters: shown, validate } = normaliseTool({ name: "now", description: "", run: () => "" });
		expect(shown).toEqual({ type: "object", properties: {} });
		expect(validate({})).toEqual({ ok: true, value: {} });
	});
});

describe("an invalid tool", () => {
	test("is reported by position, with what to do", () => {
		function makeTool() {}
		expect(codeOf([uppTool, makeTool])).toMatchObject({
			code: "invalid_tool",
			message: "tools[1] is a function, not a tool. If it makes one, call it: makeTool().",
		});
		expect(codeOf([{ description: "x", run: () => "" }]).message).toMatch(/^tools\[0\] has no name/);
		expect(codeOf(["weather"]).message).toMatch(/^tools\[0\] is of type string, not a tool/);
		expect(codeOf({ weather: null }).message).toMatch(/^tools\.weather is null/);
		expect(codeOf("weather")).toMatchObject({ code: "invalid_tool" });
	});

	test("duplicate names are an error", () => {
		expect(codeOf([uppTool, { ...uppTool }])).toMatchObject({
			code: "duplicate_tool",
			message: expect.stringContaining('"weather"'),
		});
	});

	test("an agent is rejected with advice to declare a tool", () => {
		const agent = { name: "helper", generate() {}, stream() {} };
		expect(codeOf([agent])).toMatchObject({
			code: "agent_is_not_a_tool",
			message: expect.stringMatching(/declare a Tool.*`subagents`/),
		});
	});

	test("a malformed schema or option names the tool", () => {
		expect(codeOf([{ ...uppTool, parameters: { type: "objekt" } }])).toMatchObject({
			code: "invalid_schema",
			message: expect.stringMatching(/"weather".*at "type"/),
		});
		expect(codeOf([{ ...uppTool, retryPolicy: "idempotnt" }]).message).toMatch(/did you mean "idempotent"/);
		expect(codeOf([{ ...uppTool, dependsOn: "read" }])).toMatchObject({ code: "invalid_tool" });
		expect(codeOf([{ ...uppTool, maxModelCharacters: 0 }])).toMatchObject({ code: "invalid_tool" });
		expect(codeOf([{ ...uppTool, parameters: 4 }])).toMatchObject({ code: "invalid_tool" });
	});

	test("an empty list of tools is accepted", () => {
		expect(normaliseTools(undefined).size).toBe(0);
	});
});

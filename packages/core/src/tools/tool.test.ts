import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent } from "../agent/agent.ts";
import { normaliseTools } from "./normalise-tool.ts";
import { tool } from "./tool.ts";

const parameters = z.object({ city: z.string() });
const common = { name: "weather", description: "The weather." } as const;
const calling = () =>
	scriptedModel([{ toolCalls: [{ name: "weather", arguments: { city: "Bern" } }] }, "Done."]);

test("without a function a declared tool is remote: a session waits for its result", async () => {
	const weather = tool({ ...common, parameters });
	expect(normaliseTools([weather]).get("weather")).toMatchObject({ kind: "remote", name: "weather" });
	const clerk = agent({ model: calling(), tools: [weather] });
	const run = await clerk.session("s").send("What is the weather?");
	const { outcome, pending } = await run.result();
	expect([outcome, pending?.[0]?.toolName]).toEqual(["waiting", "weather"]);
	await clerk.close();
});

test.each([
	["run", tool({ ...common, parameters, run: ({ city }) => `Sunny in ${city}.` })],
	["the AI SDK's", tool({ ...common, inputSchema: parameters, execute: ({ city }) => `Sunny in ${city}.` })],
	[
		"document 3's",
		tool({ ...common, parameters, execute: (_, { city }) => ({ output: `Sunny in ${city}.` }) }),
	],
])("a tool in the shape %s gets its input", async (_, weather) => {
	const model = calling();
	await agent({ model, tools: [weather] }).query("What is the weather?");
	expect(JSON.stringify(model.requests[1]?.messages)).toContain("Sunny in Bern.");
});

test("tool() rejects unknown options, two functions, and functions of another type", () => {
	const make = (more: object) => () => tool({ ...common, ...more } as never);
	expect(make({ handler: () => 1 })).toThrow("`handler`. Write `run`.");
	expect(make({ needApproval: true })).toThrow("`needsApproval`");
	expect(make({ run: () => 1, execute: () => 2 })).toThrow("both `run` and `execute`");
	expect(make({ run: 5 })).toThrow("`run` that is not a function");
	expect(make({ name: "" })).toThrow("non-empty string");
});

test("a remote tool rejects options of a local function", () => {
	for (const option of [{ retryPolicy: "pure" }, { reconcile: () => undefined }] as const)
		expect(() => normaliseTools([{ ...common, parameters: { type: "object" }, ...option }])).toThrow(
			expect.objectContaining({ code: "invalid_tool", message: expect.stringContaining("is remote") }),
		);
});

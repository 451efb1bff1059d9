import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent, agent } from "./agent.ts";

const model = scriptedModel(() => "Hello.");

test.each([
	["instruction", "instructions"],
	["tool", "tools"],
	["maxStep", "maxSteps"],
	["maxsteps", "maxSteps"],
	["systemPrompt", "system"],
	["sistem", "system"],
	["ouput", "output"],
	["midleware", "middleware"],
	["chekpoints", "checkpoints"],
	["subAgents", "subagents"],
	["excecution", "execution"],
	["pluggins", "plugins"],
])("`%s` is refused, for it looks like `%s`", (option, meant) => {
	expect(() => agent({ model, [option]: "x" })).toThrow(
		expect.objectContaining({
			code: "invalid_option",
			message: expect.stringContaining(`\`${meant}\``),
			data: { option, meant },
		}),
	);
});

test("`modle` and `llm` look like the model that is not given, and a name beside its option is meant as it is", async () => {
	for (const option of ["modle", "llm"])
		expect(() => agent({ [option]: model })).toThrow(expect.objectContaining({ code: "invalid_option" }));
	await agent({ model, mode: "fast" }).query("go");
	expect(model.requests.at(-1)).toMatchObject({ mode: "fast" });
});

test("what looks like no option goes to the model layer", async () => {
	const options = {
		temperature: 0.1,
		maxTokens: 5,
		seed: 1,
		cache: true,
		topP: 1,
		user: "u",
		metadata: {},
		trace: 1,
	};
	await agent({ model, ...options }).query("go");
	expect(model.requests.at(-1)).toMatchObject(options);
});

test("the strict constructor refuses every unknown name, and says what was probably meant", () => {
	const strictly = (option: string) => () => new Agent({ model, [option]: "x" } as never);
	expect(strictly("sistem")).toThrow("Unknown option `sistem`; did you mean `system`?");
	expect(strictly("somethingNew")).toThrow("Unknown option `somethingNew`. Known options: ");
});

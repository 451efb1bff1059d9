import { expect, test } from "vitest";
import { chooseModel } from "./models.ts";
import { UsageError } from "./usage-error.ts";

const none = (): boolean => false;

test.each([
	["openai:gpt-5.2", {}, "@ai-sdk/openai"],
	["openai-compatible:llama@http://127.0.0.1:1/v1", {}, "@ai-sdk/openai-compatible"],
	[undefined, { ANTHROPIC_API_KEY: "key" }, "@ai-sdk/anthropic"],
	[undefined, { HOLDFAST_MODEL: "google:gemini-2.5-pro" }, "@ai-sdk/google"],
])(
	"the model %s in %j is rejected when it is selected, if its package is missing",
	(asked, environment, name) => {
		const choose = (): unknown => chooseModel(asked, environment, none);
		expect(choose).toThrow(UsageError);
		expect(choose).toThrow(`needs the package ${name}, which is not installed. Run \`npm install ${name}\``);
	},
);

test("the offline model needs no package", () => {
	expect([chooseModel("offline", {}, none).name, chooseModel(undefined, {}, none).name]).toEqual([
		"offline",
		"offline",
	]);
});

test("HOLDFAST_CONTEXT_WINDOW applies to every model, also to the one that needs no key", () => {
	const environment = { HOLDFAST_CONTEXT_WINDOW: "200000" };
	const chosen = ["offline", "openai:gpt-5.2", undefined].map((name) => chooseModel(name, environment));
	expect(chosen.map(({ contextWindow }) => contextWindow)).toEqual([200_000, 200_000, 200_000]);
});

test("an installed package is found", () => {
	expect(chooseModel("openai:gpt-5.2", {}).name).toBe("openai:gpt-5.2");
});

/** Which values of the process reach a project's threads. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineModel, definePrompt, defineTool, type Project } from "@holdfast/threads";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { namedEnvironment, readVariables } from "./project-environment.ts";

function items(...definitions: readonly object[]): ReadonlyMap<string, unknown> {
	return new Map(definitions.map((definition, at) => [String(at), { definition }]));
}

const others = { toolDescription: "x", model: "m" };
const project = {
	prompts: items(
		definePrompt({
			...others,
			name: "p",
			prompt: [
				{ type: "env", property: "CITY" },
				{ type: "env", property: "TOKEN" },
			],
			tools: ["t", { name: "a", optional: "WITH_A", immediate: { nameEnv: "NAME", scopedEnv: ["INNER"] } }],
		}),
		definePrompt({
			...others,
			name: "q",
			prompt: "x",
			variables: [{ name: "REGION", type: "text", required: true, description: "x" }],
		}),
	),
	tools: items(
		defineTool({
			description: "x",
			variables: [{ name: "TOKEN", type: "secret", required: true, description: "x" }],
			execute: () => ({ status: "success" }),
		}),
	),
	models: items(
		defineModel({
			name: "m",
			model: "x",
			provider: Object.assign(() => ({}) as never, { apiKeyEnv: "API_KEY" }),
		}),
	),
} as unknown as Project;

test("only names that the project lists reach it, and a name that is secret in one place is secret everywhere", () => {
	const variables = {
		API_KEY: "key",
		CITY: "Rome",
		HOME: "/home/user",
		INNER: "inner",
		NAME: "",
		REGION: "north",
		TOKEN: "token",
	};
	expect(namedEnvironment(project, variables)).toEqual({
		API_KEY: { value: "key", type: "secret" },
		CITY: { value: "Rome", type: "text" },
		INNER: { value: "inner", type: "secret" },
		NAME: { value: "", type: "text" },
		REGION: { value: "north", type: "text" },
		TOKEN: { value: "token", type: "secret" },
	});
});

test("a project's `.env` is read, and the process's environment takes precedence", async () => {
	const folder = temporaryFolder();
	expect(await readVariables(folder, { A: "1" })).toEqual({ A: "1" });
	writeFileSync(join(folder, ".env"), 'A=2\nB="two words" # note\n');
	expect(await readVariables(folder, { A: "1" })).toEqual({ A: "1", B: "two words" });
});

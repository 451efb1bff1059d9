import { expect, test } from "vitest";
import { loadProject } from "../load/index.ts";
import { promptSource, smallProject, source, writeProject } from "../project.fixture.ts";
import type { ProjectItem } from "../types/index.ts";
import { renderPrompt } from "./index.ts";

async function render(parts: string, env: Record<string, string> = {}): Promise<string> {
	const project = await loadProject(
		writeProject({
			...smallProject,
			"agents/prompts/plain.ts": promptSource("plain").replace('"Be."', '" {{name}}\\n $1 "'),
			"agents/prompts/both.ts": source(
				"Prompt",
				`{ name: "both", toolDescription: "x", model: "small", prompt: [{ type: "include", prompt: "plain" }, { type: "text", content: "|" }] }`,
			),
			"agents/prompts/asked.ts": source(
				"Prompt",
				`{ name: "asked", toolDescription: "x", model: "small", prompt: ${parts} }`,
			),
		}),
	);
	return await renderPrompt(
		project,
		project.prompts.get("asked") as ProjectItem<"prompt">,
		async (property) => {
			if (env[property] === undefined) throw new Error(`There is no value "${property}".`);
			return env[property];
		},
	);
}

test("a prompt in a string is used unchanged [SA-017]", async () => {
	expect(await render(JSON.stringify(" a {{b}} $&\n"))).toBe(" a {{b}} $&\n");
});

test("parts are rendered in order with nothing between them [SA-017]", async () => {
	const parts = `[{ type: "text", content: "a" }, { type: "env", property: "B" }, { type: "text", content: "" }, { type: "text", content: "c " }, { type: "include", prompt: "plain" }, { type: "text", content: "d" }]`;
	expect(await render(parts, { B: "b\n" })).toBe("ab\nc  {{name}}\n $1 d");
});

test("an include is the other prompt as it is rendered, any number of times [SA-018]", async () => {
	const parts = `[{ type: "include", prompt: "both" }, { type: "include", prompt: "both" }, { type: "include", prompt: "plain" }]`;
	expect(await render(parts)).toBe(" {{name}}\n $1 | {{name}}\n $1 | {{name}}\n $1 ");
});

test("a value that is not defined rejects, naming it", async () => {
	await expect(render(`[{ type: "env", property: "CITY" }]`)).rejects.toThrow('"CITY"');
});

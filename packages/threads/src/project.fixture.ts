// Projects of tests: files in a folder of their own, which finds the packages of this repository.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../../..");

/** Contents by path. An object is written as JSON. */
export type Files = Readonly<Record<string, string | object>>;

/** Writes a project into a new folder, removed when the test is over. Gives the folder. */
export function writeProject(files: Files): string {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-project-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	mkdirSync(join(folder, "node_modules/@holdfast"), { recursive: true });
	symlinkSync(join(root, "packages/threads"), join(folder, "node_modules/@holdfast/threads"), "dir");
	symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"), "dir");
	writeFiles(folder, { "package.json": { name: "a-project", type: "module" }, ...files });
	return folder;
}

/** Writes files into a folder. */
export function writeFiles(folder: string, files: Files): void {
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
	}
}

/** The source of a file whose default export is a definition. */
export function source(kind: "Agent" | "Prompt" | "Model" | "Hook" | "Tool", options: string): string {
	return `import { define${kind} } from "@holdfast/threads";\nexport default define${kind}(${options});\n`;
}

/** A tool that returns a text. */
export function toolSource(text = "done"): string {
	return source(
		"Tool",
		`{ description: "x", execute: () => ({ status: "success", result: ${JSON.stringify(text)} }) }`,
	);
}

/** A prompt with more fields than it needs. */
export function promptSource(name: string, more = ""): string {
	return source(
		"Prompt",
		`{ name: "${name}", toolDescription: "x", prompt: "Be.", model: "small", ${more} }`,
	);
}

/** An agent whose side A has the prompt of that name. */
export function agentSource(name: string, prompt: string, more = ""): string {
	return source("Agent", `{ name: "${name}", sideA: { prompt: "${prompt}" }, ${more} }`);
}

const provider = `export default () => ({
	name: "none",
	specificationVersion: "1",
	generate: () => Promise.reject(new Error("no")),
	stream: () => { throw new Error("no"); },
	getTools: () => ({ web_search: {} }),
});
`;

/** The source of a model of that name. */
export function modelSource(name: string, more = ""): string {
	return `import provider from "../providers/none.ts";\n${source("Model", `{ name: "${name}", model: "x", provider, ${more} }`)}`;
}

/** The smallest whole project: an agent, its prompt, a model and a provider. */
export const smallProject: Files = {
	"agents/agents/helper.ts": agentSource("helper", "help"),
	"agents/prompts/help.ts": promptSource("help"),
	"agents/models/small.ts": modelSource("small"),
	"agents/providers/none.ts": provider,
};

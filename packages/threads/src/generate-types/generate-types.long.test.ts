import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadProject } from "../load/index.ts";
import {
	agentSource,
	promptSource,
	smallProject,
	source,
	toolSource,
	writeFiles,
	writeProject,
} from "../project.fixture.ts";
import { generateTypes, writeTypes } from "./index.ts";

const compiler = join(import.meta.dirname, "../../../../node_modules/.bin/tsc");
const tsconfig = {
	compilerOptions: {
		target: "esnext",
		module: "nodenext",
		strict: true,
		noEmit: true,
		skipLibCheck: true,
		allowImportingTsExtensions: true,
		customConditions: ["holdfast-source"],
		types: [],
	},
	include: ["uses.ts", "agents/holdfast.d.ts"],
};

/** The lines of `uses.ts` that the compiler refuses. */
function refusedLines(folder: string): readonly number[] {
	try {
		execFileSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
		return [];
	} catch (error) {
		const { stdout } = error as { readonly stdout: string };
		const lines = [...stdout.matchAll(/^\S*uses\.ts\((\d+),/gm)].map(([, line]) => Number(line));
		// The sources of the package are compiled here too, without the types of Node.
		if (!stdout.includes("error TS")) throw error;
		return [...new Set(lines)].sort((a, b) => a - b);
	}
}

const uses = `import { defineAgent, definePrompt } from "@holdfast/threads";
const whole = { name: "x", toolDescription: "x", prompt: "x" };
definePrompt({ ...whole, model: "small", tools: ["count", "help", "open", "provider:any", "mcp:any.tool", { name: "count" }], hooks: ["keep"] });
definePrompt({ ...whole, model: "smal" });
definePrompt({ ...whole, model: "small", tools: ["cuont"] });
definePrompt({ ...whole, model: "small", tools: [{ name: "cuont" }] });
definePrompt({ ...whole, model: "small", hooks: ["kept"] });
defineAgent({ name: "x", sideA: { prompt: "help", stopTool: "count" }, hooks: ["keep"] });
defineAgent({ name: "x", sideA: { prompt: "halp" } });
defineAgent({ name: "x", sideA: { prompt: "help", stopTool: "cuont" } });
definePrompt({ ...whole, model: "small", prompt: [{ type: "include", prompt: "halp" }] });
export const known: StandardAgentSpec.Tools = "count";
export const misspelt: StandardAgentSpec.Tools = "cuont";
`;

test("types of a project's names reject misspelt ones, and accept tools of providers and of MCP [SA-219]", async () => {
	const folder = writeProject({
		...smallProject,
		"agents/tools/count.ts": toolSource(),
		"agents/hooks/keep.ts": source("Hook", `{ hook: "filter_messages", id: "keep", execute: (_s, m) => m }`),
		"agents/agents/open.ts": agentSource("open", "help", `exposeAsTool: true, toolDescription: "x"`),
		"tsconfig.json": tsconfig,
		"uses.ts": uses,
	});
	const file = await writeTypes(await loadProject(folder));
	expect(file).toBe(join(folder, "agents/holdfast.d.ts"));
	expect(refusedLines(folder)).toEqual([4, 5, 6, 7, 9, 10, 11, 13]);
});

test("if a project has no names yet, every name is a string [SA-219]", async () => {
	const folder = writeProject({ "agents/README.md": "", "tsconfig.json": tsconfig, "uses.ts": uses });
	await writeTypes(await loadProject(folder));
	expect(refusedLines(folder)).toEqual([]);
});

test("types are written only if they changed", async () => {
	const folder = writeProject(smallProject);
	const file = await writeTypes(await loadProject(folder));
	const first = statSync(file);
	await writeTypes(await loadProject(folder));
	expect(statSync(file).ino + statSync(file).mtimeMs).toBe(first.ino + first.mtimeMs);
	writeFiles(folder, { "agents/prompts/second.ts": promptSource("second") });
	const project = await loadProject(folder);
	await writeTypes(project);
	expect(readFileSync(file, "utf8")).toBe(generateTypes(project));
	expect(readFileSync(file, "utf8")).toContain('"second": true');
});

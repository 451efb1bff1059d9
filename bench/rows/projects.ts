// The cost of loading a project of 200 TypeScript files, and of reloading a change of one.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadProject, type ProjectChange, watchProject } from "@holdfast/threads";
// As in a process that has worked with a project before: its imports are loaded.
import "zod";
import { effort, median, mustBe, p99, report } from "../measure.ts";

const tools = 120;
const prompts = 50;
const agents = 28;

function write(folder: string, path: string, text: string): void {
	mkdirSync(dirname(join(folder, path)), { recursive: true });
	writeFileSync(join(folder, "saved"), text);
	renameSync(join(folder, "saved"), join(folder, path));
}

const tool = (text: string): string => `import { defineTool } from "@holdfast/threads";
import { z } from "zod";
type Found = { readonly text: string };
export default defineTool({
	description: "Searches.",
	args: z.object({ text: z.string(), limit: z.number().optional(), tags: z.array(z.string()) }),
	execute: async (_state, { text }: Found) => ({ status: "success", result: \`${text} \${text}\` }),
});
`;

function writeProject(folder: string): void {
	write(folder, "agents/providers/none.ts", "export default () => ({});");
	write(
		folder,
		"agents/models/small.ts",
		`import { defineModel } from "@holdfast/threads";
import provider from "../providers/none.ts";
export default defineModel({ name: "small", model: "x", provider });`,
	);
	for (let at = 0; at < tools; at++) write(folder, `agents/tools/t${at}.ts`, tool("found"));
	for (let at = 0; at < prompts; at++)
		write(
			folder,
			`agents/prompts/p${at}.ts`,
			`import { definePrompt } from "@holdfast/threads";
export default definePrompt({ name: "p${at}", toolDescription: "x", prompt: "Be.", model: "small", tools: ["t1", "t2"] });`,
		);
	for (let at = 0; at < agents; at++)
		write(
			folder,
			`agents/agents/a${at}.ts`,
			`import { defineAgent } from "@holdfast/threads";
export default defineAgent({ name: "a${at}", sideA: { prompt: "p${at}" } });`,
		);
}

const loads: number[] = [];
const cpu = process.cpuUsage();
const repetitions = effort.repetitions(10);
for (let at = 0; at < repetitions; at++) {
	const folder = resolve(`project-${at}`);
	writeProject(folder);
	const started = performance.now();
	const project = await loadProject(folder);
	loads.push(performance.now() - started);
	mustBe("the number of tools", project.tools.size, tools);
}
const spent = process.cpuUsage(cpu);

const folder = resolve("project-0");
let changed = Promise.withResolvers<ProjectChange>();
const live = await watchProject(folder, { onChange: (change) => changed.resolve(change) });
await changed.promise;
const changes: number[] = [];
for (let at = 0; at < effort.repetitions(30); at++) {
	changed = Promise.withResolvers();
	const started = performance.now();
	write(folder, "agents/tools/t7.ts", tool(`found ${at}`));
	const { files } = await changed.promise;
	changes.push(performance.now() - started);
	mustBe("the number of files that changed", files.length, 1);
}
live.close();

report([
	{
		what: "load a project of 200 files",
		unit: "ms",
		median: median(loads),
		p99: p99(loads),
		cpu: (spent.user + spent.system) / repetitions,
		target: { is: "at most", value: 400 },
	},
	{
		what: "a change of one file until it counts",
		unit: "ms",
		median: median(changes),
		p99: p99(changes),
		target: { is: "at most", value: 150 },
	},
]);

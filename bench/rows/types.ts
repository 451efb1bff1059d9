// The compiler's work for an agent with five typed tools, and for code that reads its output and its events, compared
// with a file that only imports the same packages.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../tools/run-command.ts";
import { type Measurement, report } from "../measure.ts";

const names = ["read", "write", "list", "search", "move"];

interface Variant {
	readonly how: string;
	readonly base: string;
	readonly output?: string;
	readonly use?: string;
	toolOf(name: string): string;
}

/** Programs by the style of typing arguments; each with a file that contains everything except agent and tools. */
const variants: readonly Variant[] = [
	{
		how: "types given",
		base: 'import { agent, tool } from "holdfast";\nexport { agent, tool };',
		toolOf: (name: string) => `tool<{ path: string; depth?: number }>({
	name: "${name}", description: "Does it.",
	parameters: { type: "object", properties: { path: { type: "string" }, depth: { type: "number" } } },
	run: ({ path, depth }) => path.repeat(depth ?? 1),
})`,
	},
	{
		how: "types from zod",
		base: `import { agent, tool } from "holdfast";
import { z } from "zod";
${names.map((name) => `export const ${name}Input = z.object({ path: z.string(), depth: z.number().optional() });`).join("\n")}
export { agent, tool };`,
		toolOf: (name: string) => `tool({
	name: "${name}", description: "Does it.", parameters: ${name}Input,
	run: ({ path, depth }) => path.repeat(depth ?? 1),
})`,
	},
];

/** Reads an output, and the events of one tool. */
const reading = `
export async function read(): Promise<string> {
	const run = await worker.session("s").send("go");
	for await (const event of run.events())
		if (event.type === "tool-result" && event.toolName === "read" && event.isError !== true) return event.output;
	const { output } = await worker.generate("go");
	return output.title;
}
`;

const compilerOptions = {
	target: "es2024",
	module: "nodenext",
	strict: true,
	exactOptionalPropertyTypes: true,
	noEmit: true,
	skipLibCheck: true,
	types: ["node"],
};

async function instantiations(folder: string, source: string): Promise<number> {
	mkdirSync(folder);
	writeFileSync(join(folder, "program.ts"), source);
	writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
	const tsc = join("..", "..", "node_modules", "typescript", "bin", "tsc");
	const { code, output } = await runCommand(
		[process.execPath, tsc, "-p", folder, "--extendedDiagnostics", "--singleThreaded"],
		{ folder: "." },
	);
	if (code !== 0) throw new Error(`The program in ${folder} does not compile:\n${output}`);
	const found = /^Instantiations:\s+(\d+)$/m.exec(output)?.[1];
	if (found === undefined) throw new Error(`The compiler does not say how much it instantiated:\n${output}`);
	return Number(found);
}

const all: readonly Variant[] = [
	...variants,
	{
		...(variants[1] as Variant),
		how: "types from zod, its output and events read",
		output: ", output: outputSchema",
		base: `${variants[1]?.base}\nexport const outputSchema = z.object({ title: z.string(), pages: z.number().optional() });`,
		use: reading,
	},
];
const measurements: Measurement[] = [];
for (const [at, { how, base, toolOf, output = "", use = "" }] of all.entries()) {
	const model = 'declare const model: import("@holdfast/upp").ModelReference;';
	const tools = names.map(toolOf).join(", ");
	const program = `${base}\n${model}\nexport const worker = agent({ model, tools: [${tools}]${output} });\n${use}`;
	const empty = await instantiations(`types-${at}-empty`, base);
	const full = await instantiations(`types-${at}-full`, program);
	measurements.push({
		what: `instantiations for an agent with five tools, ${how}`,
		unit: "",
		median: full - empty,
		target: { is: "at most", value: 5_000 },
		note: `${full.toLocaleString("en")} with the agent, ${empty.toLocaleString("en")} without`,
	});
}
report(measurements);

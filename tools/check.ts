// The checks besides the tests: runs them two at a time, prints a line for each with its duration, then the output of
// failed ones. Exits with 1 if any failed.
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

interface Check {
	readonly name: string;
	/** Programs run one after the other; the first that fails ends the check. */
	readonly commands: readonly (readonly [program: string, ...parameters: string[]])[];
	/** Name of the check that has to end before this one starts. */
	readonly after?: string;
}

const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const tool = (file: string, ...parameters: string[]): readonly [string, ...string[]] => [
	process.execPath,
	"--conditions=holdfast-source",
	join("tools", file),
	...parameters,
];

const checks: readonly Check[] = [
	{ name: "build and types", commands: [tool("build.ts")] },
	{
		name: "format and lint",
		commands: [
			[
				bin("biome"),
				"ci",
				"--colors=off",
				"--error-on-warnings",
				"--diagnostic-level=warn",
				"--reporter=concise",
				".",
			],
		],
	},
	{ name: "requirements page", commands: [tool("requirements.ts", "--check")] },
	// A wrong expectation in a type test is a compiler error.
	{ name: "types of tests and tools", commands: [[bin("tsc"), "-p", "tsconfig.test.json"]] },
	{ name: "dead code", commands: [[bin("knip")]] },
	{ name: "packages as installed", commands: [tool("check-packages.ts")], after: "build and types" },
	{ name: "examples compiled", commands: [tool("examples/check.ts")] },
];

interface Outcome {
	readonly name: string;
	readonly code: number;
	readonly output: string;
}

async function run({ name, commands }: Check): Promise<Outcome> {
	const started = performance.now();
	let code = 0;
	let output = "";
	for (const command of commands) {
		if (code !== 0) break;
		const result = await runCommand(command, { folder: root });
		code = result.code;
		output += result.output;
	}
	const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
	console.log(`${code === 0 ? "ok    " : "FAILED"} ${seconds} s  ${name}`);
	return { name, code, output };
}

/** Runs all checks with at most `limit` of them at a time, each after the one it waits for. */
async function runAll(limit: number): Promise<readonly Outcome[]> {
	const outcomes: Outcome[] = [];
	const waiting = [...checks];
	const worker = async (): Promise<void> => {
		for (;;) {
			const ended = new Set(outcomes.map(({ name }) => name));
			const ready = waiting.find(({ after }) => after === undefined || ended.has(after));
			if (ready === undefined) return;
			waiting.splice(waiting.indexOf(ready), 1);
			outcomes.push(await run(ready));
		}
	};
	// A worker leaves when nothing is ready; the check that another one waits for may still run, so ask again.
	while (waiting.length > 0) await Promise.all(Array.from({ length: limit }, worker));
	return outcomes;
}

const started = performance.now();
const failed = (await runAll(2)).filter(({ code }) => code !== 0);
for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trimEnd()}`);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
	failed.length === 0
		? `\nAll ${checks.length} checks passed in ${seconds} s.`
		: `\n${failed.length} of ${checks.length} checks failed after ${seconds} s: ${failed.map(({ name }) => name).join(", ")}.`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

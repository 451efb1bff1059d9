// The cost of tool calls in a script of code mode, in a session in memory. The floor is the same calls of a strategy without
// a sandbox. Both alternate, so that a slow moment of the machine affects both.
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { scriptedModel } from "@holdfast/testing";
import { Agent, agent, createSubAgentTool, memoryHost, tool } from "holdfast";
import { concurrentStrategy } from "holdfast/execution";
import { effort, median, mustBe, p99, report, spend } from "../measure.ts";

const calls = 150;
const schema = { type: "object", properties: { value: { type: "number" } }, required: ["value"] };
let ran = 0;
const double = tool({
	name: "double",
	description: "Doubles a number.",
	parameters: schema,
	run: ({ value }: { value: number }) => {
		ran++;
		return value * 2;
	},
});
const sandbox = createSandbox({ workers: 1 });
const one = `let sum = 0; for (let i = 0; i < ${calls}; i++) sum += await tools.double({ value: i }); return sum;`;
const atOnce = `const all = await Promise.all(Array.from({ length: ${calls} }, (_, i) => tools.double({ value: i })));
return all.reduce((sum, each) => sum + each, 0);`;

/** Makes the same calls one after another. */
const counting = concurrentStrategy<number>({
	name: "counting",
	initial: () => 0,
	evolve: (done, { fact }) => (fact.kind === "tool.settled" ? done + 1 : done),
	next: (done) =>
		done < calls
			? { kind: "calls", calls: [{ toolName: "double", arguments: { value: done } }] }
			: { kind: "finish", text: "done" },
});
const counter = createSubAgentTool({
	agent: agent({ name: "counter", model: scriptedModel([]), tools: [double], execution: counting }),
	name: "run_code",
	description: "Counts.",
	parameters: { type: "object", properties: { code: { type: "string" } } },
	buildPrompt: () => "Count.",
});
const script = codeMode({ tools: [double], sandbox });

async function run(
	how: "floor" | "script",
	code: string,
): Promise<{ readonly cpu: number; readonly wall: number }> {
	const model = scriptedModel([{ toolCalls: [{ name: "run_code", arguments: { code } }] }, "Done."]);
	const worker = new Agent({ model, tools: [how === "script" ? script : counter], host: memoryHost() });
	const session = worker.session("s");
	ran = 0;
	const spent = await spend(async () => (await session.send("Go.")).result());
	mustBe("the outcome", spent.result.outcome, "completed");
	await worker.close();
	return spent;
}

const series = { floor: [], empty: [], "one by one": [], "at once": [] } as Record<string, number[]>;
const walls: number[] = [];
const warmUp = 5;
for (let at = -warmUp; at < effort.repetitions(30); at++) {
	const floor = await run("floor", "");
	const empty = await run("script", "return 1;");
	const sequence = await run("script", one);
	mustBe("the number of calls", ran, calls);
	const together = await run("script", atOnce);
	if (at < 0) continue;
	series.floor?.push(floor.cpu);
	series.empty?.push(empty.cpu);
	series["one by one"]?.push(sequence.cpu);
	series["at once"]?.push(together.cpu);
	walls.push(sequence.wall);
}
await sandbox.close();
const milliseconds = (numbers: readonly number[] = []): { median: number; p99: number; cpu: number } => ({
	median: median(numbers) / 1000,
	p99: p99(numbers) / 1000,
	cpu: median(numbers),
});
report([
	{ what: `${calls} calls of a strategy without a sandbox, CPU`, unit: "ms", ...milliseconds(series.floor) },
	{ what: "a script without calls, CPU", unit: "ms", ...milliseconds(series.empty) },
	{
		what: `a script with ${calls} calls one after another, CPU`,
		unit: "ms",
		...milliseconds(series["one by one"]),
		target: { is: "at most", value: 60 },
	},
	{ what: `a script with ${calls} calls at once, CPU`, unit: "ms", ...milliseconds(series["at once"]) },
	{
		what: `a script with ${calls} calls one after another, wall clock`,
		unit: "ms",
		median: median(walls) / 1000,
	},
]);

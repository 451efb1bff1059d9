// The cost of a step of plan, act and reflect compared with a step of the loop in memory, and with bare transactions of
// the same rows on SQLite: a planner that answers at once, one trivial tool per step, every policy enabled. Runners and
// loops alternate.
import { rmSync } from "node:fs";
import { RunnerAgent as Runner, type RunnerEvent } from "@holdfast/runner";
import { agent } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { byCommit, openBareFile, openingOfRunners, readJournalRows } from "../bare-transactions.ts";
import { effort, type Measurement, median, mustBe, report, spend } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const result = "0123456789".repeat(10);
const allow = { action: "allow" } as const;

function runnerOf(steps: number, host?: ReturnType<typeof sqliteHost>): Runner {
	let audited = 0;
	return new Runner({
		id: "runner",
		taskPrompt: "Look at everything.",
		modelProviders: [],
		maxSteps: 10_000,
		tools: [{ id: "look", run: () => result }],
		...(host === undefined ? {} : { host }),
		planner: {
			plan: ({ step }) =>
				step <= steps
					? { type: "tool", toolId: "look", input: { at: step } }
					: { type: "finish", message: "All seen." },
		},
		safety: {
			toolAllowlist: ["look"],
			toolDenylist: ["never"],
			contentFilter: [/forbidden/],
			sanitizers: [(_, input) => input],
			writeFilters: [{ match: /forbidden/, action: "redact" }],
			requestRateLimit: { look: { max: 1_000_000, windowMs: 1_000 } },
			policyEngine: { check: () => allow },
			secrets: ["a-secret-of-the-caller"],
			auditSink: { write: () => void audited++ },
		},
	} as ConstructorParameters<typeof Runner>[0]);
}

async function runnerStep(steps: number): Promise<number> {
	const runner = runnerOf(steps);
	const spent = await spend(() => runner.runOnce());
	mustBe("success", spent.result.success, true);
	mustBe("the number of iterations", spent.result.steps, steps + 1);
	mustBe("the first event", (spent.result.eventStream as readonly RunnerEvent[])[0]?.type, "run.start");
	return spent.cpu / steps;
}

async function loopStep(steps: number): Promise<number> {
	const looker = agent({
		model: steppingModel(steps, "whole"),
		maxSteps: Number.POSITIVE_INFINITY,
		tools: [lookTool(() => {})],
	});
	const spent = await spend(async () => (await looker.session("s").send("Look.")).result());
	mustBe("the outcome", spent.result.outcome, "completed");
	return spent.cpu / steps;
}

async function inMemory(): Promise<Measurement[]> {
	const [short, long] = [50, 5_000];
	const own = { short: [] as number[], long: [] as number[], loop: [] as number[] };
	for (let at = -2; at < effort.repetitions(9); at++) {
		const few: number[] = [];
		for (let done = 0; done < long; done += short) few.push(await runnerStep(short));
		const many = await runnerStep(long);
		const loop = await loopStep(long);
		if (at < 0) continue;
		own.short.push(median(few));
		own.long.push(many);
		own.loop.push(loop);
	}
	return [
		{
			what: "step of 5,000 over the loop's in a session, every policy on",
			unit: "µs",
			median: median(own.long.map((each, at) => each - (own.loop[at] as number))),
			target: { is: "at most", value: 25 },
			note: `CPU time: ${median(own.long).toFixed(1)} µs, the loop's ${median(own.loop).toFixed(1)} µs`,
		},
		{
			what: "step of 5,000 to step of 50",
			unit: "×",
			median: median(own.long.map((each, at) => each / (own.short[at] as number))),
			target: { is: "at most", value: 1.3 },
		},
	];
}

async function onDisk(): Promise<Measurement[]> {
	const steps = effort.size(2_000, 500);
	const ratios: number[] = [];
	const own: number[] = [];
	for (let at = -1; at < effort.repetitions(5); at++) {
		const [path, bare] = [`runner-${at}.db`, `runner-${at}-bare.db`];
		const host = sqliteHost({ path, durability: "process" });
		const spent = await spend(() => runnerOf(steps, host).runOnce({ sessionId: "s" }));
		mustBe("success", spent.result.success, true);
		await host.close();
		const rows = readJournalRows(path);
		const file = openBareFile(bare, "process", rows);
		const floor = await spend(() => {
			for (const batch of byCommit(rows, openingOfRunners)) file.write(batch);
		});
		file.close();
		for (const name of [path, bare]) rmSync(name);
		if (at < 0) continue;
		own.push(spent.cpu / steps);
		ratios.push(spent.cpu / floor.cpu);
	}
	return [
		{
			what: "durable step to its floor, audit on",
			unit: "×",
			median: median(ratios),
			target: { is: "at most", value: 2 },
			note: `CPU time: ${median(own).toFixed(0)} µs a step`,
		},
	];
}

report([...(await inMemory()), ...(await onDisk())]);

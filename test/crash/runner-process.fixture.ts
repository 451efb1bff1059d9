// The process that the tests kill while an accountable agent plans, is judged, acts and reflects: its effects go to a
// receiver that counts keys and to a file, its audit to a sink, and what its planner saw to a file.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { dirname, join } from "node:path";
import type { MemoryClient } from "@holdfast/memory";
import {
	fileEventStore,
	type PlannerState,
	RunnerAgent,
	type RunnerStep,
	type RunnerTool,
} from "@holdfast/runner";
import type { AgentRun } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { moments, Order, watchedHost } from "./moments.fixture.ts";
import type { WorkerOptions } from "./worker-process.fixture.ts";

flushCompileCache();

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const { reach } = moments(options.killAt);
const folder = dirname(options.requests);
const host = watchedHost(sqliteHost(options.host), { reach }, new Order());

const use = (toolId: string, input: unknown): RunnerStep => ({ type: "tool", toolId, input });
const steps: readonly RunnerStep[] = [
	use("post", { subject: "alpha" }),
	use("record", { subject: "beta", secret: "to be left out" }),
	use("forbidden", {}),
	use("recall", { note: "gamma" }),
	{ type: "message", message: "Almost done." },
	use("recall", { note: "delta" }),
	{ type: "finish", message: "All is reported." },
];

/** What of a state can be seen from outside, as plain data. */
function seen(state: PlannerState): unknown {
	const { task, step, transcript, scratchpad, memory, safetyBudget } = state;
	return { task, step, transcript, scratchpad, memory, safetyBudget };
}

const tools: readonly RunnerTool[] = [
	{
		id: "post",
		idempotent: true,
		async run(_input, { idempotencyKey, rng }) {
			reach("post entered");
			const answer = await fetch(options.receiver, {
				method: "POST",
				headers: { "idempotency-key": String(idempotencyKey) },
			});
			const receipt = await answer.text();
			reach("post effected");
			return { receipt, drawn: rng() };
		},
	},
	{
		id: "record",
		run(input, { idempotencyKey }) {
			reach("record entered");
			appendFileSync(options.effects, `${idempotencyKey} ${JSON.stringify(input)}\n`);
			reach("record effected");
			return "recorded";
		},
	},
	{ id: "forbidden", run: () => appendFileSync(options.effects, "forbidden\n") },
	{
		id: "recall",
		idempotent: true,
		async run(input, { memory, sessionId }) {
			const before = await memory.read(String(sessionId));
			await memory.append("notes", input);
			reach("memory written");
			return { before, notes: await memory.read("notes") };
		},
	},
];

/** Memory in a file, that leaves out an id which it has: whoever writes twice under two ids is found out. */
function fileMemory(file: string): MemoryClient {
	const entries = (): { key: string; id?: string; entry: unknown }[] =>
		existsSync(file)
			? readFileSync(file, "utf8")
					.split("\n")
					.filter(Boolean)
					.map((line) => JSON.parse(line))
			: [];
	return {
		async append(key, entry, { id } = {}) {
			const isKnown = id !== undefined && entries().some((each) => each.key === key && each.id === id);
			if (!isKnown) appendFileSync(file, `${JSON.stringify({ key, id, entry })}\n`);
		},
		read: async (key) => entries().flatMap((each) => (each.key === key ? [each.entry] : [])),
	};
}

const agent = new RunnerAgent({
	id: "clerk",
	taskPrompt: "The agent's own task.",
	maxSteps: 2,
	modelProviders: [],
	tools,
	host,
	eventStore: fileEventStore(join(folder, "events")),
	...(options.session === "remembered" ? { memoryClient: fileMemory(join(folder, "memory.jsonl")) } : {}),
	planner: {
		plan(state, { rng }) {
			reach(`plan ${state.step} entered`);
			const drawn = rng();
			appendFileSync(options.requests, `${JSON.stringify({ ...(seen(state) as object), drawn })}\n`);
			return steps[state.step - 1] as RunnerStep;
		},
	},
	...(options.session === "plain"
		? {}
		: {
				reflector: {
					reflect: (state, { toolId }, { rng }) => ({ note: `${state.step} ${toolId} ${rng()}` }),
				},
			}),
	safety: {
		toolDenylist: ["forbidden"],
		sanitizers: [
			(toolId, input) => (toolId === "record" ? { subject: (input as { subject: string }).subject } : input),
		],
		auditSink: {
			write(record) {
				appendFileSync(join(folder, "audit.jsonl"), `${JSON.stringify(record)}\n`);
				reach(`audit of ${record.rule} written`);
			},
		},
	},
});

async function report(run: AgentRun): Promise<void> {
	const { outcome, error } = await run.result();
	reach("result", { outcome, error: error?.code });
}

const sessionId = options.session ?? "s";
const { work } = options;
reach("ready");
try {
	if ("send" in work) {
		const result = await agent
			.createSession({ sessionId, task: work.send[0] as string, contextKey: "before", maxSteps: 9, seed: 7 })
			.run();
		writeFileSync(join(folder, "result.json"), JSON.stringify(result));
		reach("result", { outcome: result.success ? "completed" : "error" });
	} else if ("resume" in work) {
		const run = await agent.engine.session(sessionId).resume();
		if (run !== null) await report(run);
	} else if ("recover" in work) for await (const run of agent.engine.recover()) await report(run);
	else {
		const stop = new AbortController();
		for await (const run of agent.engine.work({ signal: stop.signal })) {
			await report(run);
			stop.abort();
		}
	}
} catch (error) {
	reach("failed", { code: (error as { code?: string }).code, message: (error as Error).message });
}
await agent.stop();
await host.close();
reach("closed");

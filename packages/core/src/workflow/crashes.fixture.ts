// Workflows, random programs among them, with a worker that dies at each append.

import { type Death, DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import type { Host } from "../host/index.ts";
import { hashOf, type Program, runProgram } from "../replayer/program.fixture.ts";
import { tool } from "../tools/index.ts";
import type { Flow } from "./flow.ts";
import { type Workflow, workflow } from "./workflow.ts";

/** A tool that takes some turns of the event loop, and fails now and then. */
const work = tool({
	name: "work",
	description: "Works.",
	parameters: { type: "object", properties: { seed: { type: "number" } }, required: ["seed"] },
	retryPolicy: "idempotent",
	async run({ seed }: { seed: number }, { toolCallId }) {
		const id = toolCallId.slice(37);
		const hash = hashOf(`${id} ${seed}`);
		for (let turn = 0; turn < hash % 4; turn++) await new Promise((resolve) => setImmediate(resolve));
		if (hash % 5 === 0) throw new Error(`${id} failed`);
		return { id, number: hash % 100 };
	},
});

/** Resumes the session until its run has ended, and returns the end. */
export async function runToEnd(
	flow: Workflow<never>,
	key = "s",
): Promise<{ readonly outcome: string; readonly output?: unknown; readonly error?: unknown }> {
	const session = flow.session(key);
	(await session.session.resume())?.detach();
	for await (const { event } of session.session.follow({ until: "never" }))
		if (event.type === "run_end") {
			const { outcome, output, error } = event;
			return { outcome, output, error };
		}
	throw new Error("the session was deleted");
}

/** Runs the program with a worker that dies at each append, and returns what is wrong with the ends. */
export async function differencesAfterDeaths(program: Program, seed: number): Promise<readonly string[]> {
	const differences: string[] = [];
	const run = async (deaths: readonly (Death | undefined)[], name: string): Promise<number> => {
		const store = new DyingStore();
		let isFirst = true;
		let end: { readonly outcome: string; readonly error?: unknown; readonly output?: unknown } | undefined;
		for (const death of [...deaths, undefined]) {
			const { host, died } = store.worker(death);
			const made = programAsWorkflow(program, seed, host);
			const session = made.session("s");
			const working = async (): Promise<NonNullable<typeof end>> => {
				if (isFirst || store.journal.head("s") === undefined) {
					const started = await session.send(undefined, { dedupeKey: "once" });
					isFirst = false;
					return started.result();
				}
				return runToEnd(made);
			};
			const ended = await Promise.race([working(), died]);
			isFirst = false;
			if (ended === "died") continue;
			end = ended;
			break;
		}
		const entries = store.journal.read("s");
		const settled = entries.flatMap(({ fact }) =>
			fact.kind === "note" && fact.topic === "workflow-settled"
				? [(fact.value as { id: string }).id]
				: fact.kind === "tool.settled"
					? [fact.callId]
					: [],
		);
		if (new Set(settled).size !== settled.length) differences.push(`${name}: a call is settled twice`);
		const code = (end?.error as { code?: string } | undefined)?.code;
		if (end === undefined || !["completed", "error"].includes(end.outcome))
			differences.push(`${name}: ${end?.outcome}`);
		if (code !== undefined && !["step_failed", "run_failed", "tool_call_failed"].includes(code))
			differences.push(`${name}: ${JSON.stringify(end)}`);
		if (entries.filter(({ fact }) => fact.kind === "run.ended").length !== 1)
			differences.push(`${name}: ends twice`);
		return store.appends;
	};
	const appends = await run([], "undisturbed");
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const) await run([{ at, when }], `death ${when} append ${at}`);
	const often = Array.from(
		{ length: Math.min(appends, 4) },
		(_, index): Death => ({ at: 2 + (index % 2), when: index % 3 === 0 ? "before" : "after" }),
	);
	await run(often, "several deaths");
	return differences;
}

function programAsWorkflow(
	program: Program,
	seed: number,
	host: ReturnType<DyingStore["worker"]>["host"],
): Workflow {
	return workflow({ name: "program", tools: [work], host, maxRestarts: 1_000, onWarning: () => {} }, (flow) =>
		runProgram(program, branchOf(flow, seed) as never, []),
	) as Workflow;
}

/** A workflow's operations in the form that programs call. */
function branchOf(
	flow: Flow,
	seed: number,
): { call(name: string): Promise<unknown>; branch(name: string): unknown } {
	return {
		branch: (name) => branchOf(flow.branch(name), seed),
		call: (name) => {
			const options = { retryPolicy: "idempotent" } as const;
			if (name === "c") return flow.random();
			if (name === "b") return flow.tool(work, { seed });
			const step = async ({ idempotencyKey }: { readonly idempotencyKey: string }): Promise<unknown> => {
				const id = idempotencyKey.slice(37);
				const hash = hashOf(`${id} ${seed}`);
				for (let turn = 0; turn < hash % 4; turn++) await new Promise((resolve) => setImmediate(resolve));
				if (hash % 5 === 0) throw new Error(`${id} failed`);
				return { id, number: hash % 100 };
			};
			return flow.step(name, step, options);
		},
	};
}

/** Runs the code with workers that die before and after each append of an undisturbed run; returns the outputs. */
export async function outputsOfAll(make: (host: Host) => Workflow<never>): Promise<readonly unknown[]> {
	const outputs: unknown[] = [];
	const run = async (death?: { readonly at: number; readonly when: "before" | "after" }): Promise<number> => {
		const store = new DyingStore();
		const first = store.worker(death);
		const made = make(first.host);
		const sent = made.session("s").send(undefined as never, { dedupeKey: "once" });
		let end = await Promise.race([sent.then((each) => each.result()), first.died]);
		if (end === "died") {
			const second = make(store.worker().host);
			const session = second.session("s");
			const isBegun = store.journal.head("s") !== undefined;
			if (!isBegun) await session.send(undefined as never, { dedupeKey: "once" });
			const resumed = isBegun ? await session.session.resume() : null;
			resumed?.detach();
			for await (const { event } of session.session.follow({ until: "never" })) {
				if (event.type !== "run_end") continue;
				end = event as never;
				break;
			}
		}
		outputs.push((end as { output?: unknown; error?: unknown }).output ?? (end as { error?: unknown }).error);
		return store.appends;
	};
	const appends = await run();
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const) await run({ at, when });
	return outputs;
}

// A process that works on many cases at once, and dies with SIGKILL when each of them is at the moment it was given, or
// when nothing moves any more; or works on what it finds until nothing is due.
import { appendFileSync, writeSync } from "node:fs";
import { Agent, tool } from "holdfast";
import { compaction } from "holdfast/plugins";
import { sqliteHost } from "holdfast/sqlite";
import { caseModel } from "./case-model.fixture.ts";
import { type CaseParts, scenarios } from "./cases.fixture.ts";
import { namedWrites } from "./held-writes.fixture.ts";
import { requestingStrategy } from "./requesting-strategy.fixture.ts";

export interface CasesOptions {
	/**
	 * `begin`: does the cases and ends, when all is over. `die`: does the cases and dies when each is held. `die again`: continues
	 * with them, and dies when nothing moves. `finish`: continues with them to their end.
	 */
	readonly phase: "begin" | "die" | "die again" | "finish";
	readonly path: string;
	readonly requests: string;
	readonly effects: string;
	/** Milliseconds by which the time of leases has passed. */
	readonly later: number;
	readonly cases: readonly {
		readonly name: string;
		/** Whether somebody does something while the first plan is at its gate. */
		readonly isPlain?: boolean;
		/** A write, by its name, or how many of them the process makes for this case. */
		readonly holdAt?: string | { readonly writes: number; readonly moment: "before" | "after" };
	}[];
}

const options = JSON.parse(process.argv[2] ?? "{}") as CasesOptions;
const { phase } = options;
const byName = new Map(options.cases.map((each) => [each.name, each]));
const held = new Set<string>();
const written = new Map<string, string[]>();
const gates = new Map<string, { at: PromiseWithResolvers<void>; open: PromiseWithResolvers<void> }>();
/** How often was looked since the last write; looks, not time, for on a busy machine this process is paused too. */
let looksSinceWrite = Number.NEGATIVE_INFINITY;
const isFirst = phase === "begin" || phase === "die";

function report(what: Readonly<Record<string, unknown>>): void {
	writeSync(1, `${JSON.stringify(what)}\n`);
}

function gateOf(name: string) {
	const known = gates.get(name) ?? { at: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
	gates.set(name, known);
	return known;
}

/** Something of a case waits until its user has done what is to be done meanwhile. */
async function gate(name: string, signal?: AbortSignal): Promise<void> {
	const scenario = scenarios[name.split(".")[0] ?? ""];
	if (!isFirst || byName.get(name)?.isPlain === true || scenario?.meanwhile === undefined) return;
	const { at, open } = gateOf(name);
	at.resolve();
	const stopped = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
	await Promise.race([open.promise, stopped]);
}

const host = namedWrites(
	sqliteHost({ path: options.path, clock: { now: () => Date.now() + options.later } }),
	(name, write, moment) => {
		looksSinceWrite = 0;
		const list = written.get(name) ?? [];
		written.set(name, list);
		list.push(`${write} ${moment}`);
		const holdAt = byName.get(name)?.holdAt;
		const isNow =
			typeof holdAt === "object"
				? holdAt.moment === moment && list.filter((each) => each.endsWith(moment)).length >= holdAt.writes
				: holdAt === `${write} ${moment}`;
		if (!isNow && !held.has(name)) return undefined;
		// After what is held nothing more of the case is written.
		if (!isNow && moment === "after") return undefined;
		held.add(name);
		return new Promise<never>(() => {});
	},
);

const parameters = { type: "object", properties: { subject: { type: "string" } } } as const;
interface Subject {
	readonly subject: string;
}
const tools = [
	tool<Subject>({
		name: "lookup",
		description: "Looks something up.",
		retryPolicy: "pure",
		parameters,
		run: ({ subject }) => `fact of ${subject}`,
	}),
	tool<Subject>({
		name: "post",
		description: "Posts something to a receiver that deduplicates.",
		retryPolicy: "idempotent",
		parameters,
		run({ subject }, { idempotencyKey, toolCallId }) {
			appendFileSync(options.effects, `${JSON.stringify({ toolCallId, idempotencyKey })}\n`);
			return `receipt of ${subject}`;
		},
	}),
	tool<Subject>({
		name: "gate",
		description: "Waits for what happens meanwhile.",
		retryPolicy: "pure",
		parameters,
		async run({ subject }, { sessionKey = "", signal }) {
			await gate(sessionKey, signal);
			return `fact of ${subject}`;
		},
	}),
];
const model = caseModel(options.requests, gate);
const helper = new Agent({
	model,
	tools,
	instructions: "You are the helper.",
	name: "helper",
	description: "Helps.",
});
const agents = {
	plain: new Agent({ model, tools, host, subagents: [helper], instructions: "You are plain." }),
	compacting: new Agent({
		model,
		tools,
		host,
		namespace: "compacting",
		instructions: "You are compacting.",
		plugins: [compaction({ maxTokens: 900, keepRecent: 2 })],
	}),
	deciding: new Agent({
		model,
		tools,
		host,
		namespace: "deciding",
		instructions: "You are deciding.",
		execution: requestingStrategy,
	}),
};

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
	while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function play(name: string): Promise<void> {
	const scenario = scenarios[name.split(".")[0] ?? ""];
	if (scenario === undefined) throw new Error(`no scenario ${name}`);
	const agent = agents[scenario.agent];
	const space = scenario.agent;
	const place = space === "plain" ? name : `\0ns\0${space.length}\0${space}\0${name}`;
	const entries = async () => await host.journal.read(place);
	const parts: CaseParts = {
		name,
		agent,
		host,
		atGate: () => gateOf(name).at.promise,
		openGate: () => gateOf(name).open.resolve(),
		ended: (runs) =>
			until(async () => (await entries()).filter(({ fact }) => fact.kind === "run.ended").length >= runs),
	};
	await scenario.begin?.(parts);
	const accepted = JSON.stringify(await entries());
	for (const [index, plan] of scenario.plans(name).entries()) {
		if (accepted.includes(plan.task)) continue;
		const run = await agent.session(name).send(JSON.stringify(plan));
		const result = run.result();
		if (isFirst && index === 0 && byName.get(name)?.isPlain !== true && scenario.meanwhile !== undefined) {
			await parts.atGate();
			await scenario.meanwhile(parts, run);
			parts.openGate();
		}
		await result;
	}
	await parts.ended(scenario.runs);
}

const stop = new AbortController();
async function work(agent: Agent, done?: "done"): Promise<void> {
	const problem = ({ error }: { error: unknown }): void => report({ problem: String(error) });
	for await (const run of agent.work({
		signal: stop.signal,
		lookEveryMs: 20,
		onProblem: problem,
		...(done === undefined ? {} : { until: done }),
	})) {
		void run.result();
	}
}

function die(): never {
	process.kill(process.pid, "SIGKILL");
	for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const failed = (name: string) => (error: unknown) =>
	report({ failed: name, error: (error as Error).stack ?? String(error) });

if (phase === "die again" || phase === "finish") {
	// What nobody works on comes first, so that what was accepted is known when something is sent again.
	const found = Promise.all(Object.values(agents).map((agent) => work(agent, "done")));
	if (phase === "finish") await found;
	else {
		await until(() => ++looksSinceWrite > 100);
		report({ held: [...held] });
		die();
	}
}
const working = Object.values(agents).map((agent) => work(agent));
const played = Promise.all(options.cases.map(({ name }) => play(name).catch(failed(name))));
if (phase === "die") {
	await until(() => ++looksSinceWrite > 600 || options.cases.every(({ name }) => held.has(name)));
	report({
		held: [...held],
		missing: options.cases.map(({ name }) => name).filter((name) => !held.has(name)),
	});
	die();
}
await played;
// What is scheduled is settled after the run is over.
await until(async () => (await host.scheduler.list()).length === 0);
stop.abort();
await Promise.all(working);
for (const agent of Object.values(agents)) await agent.close();
await host.close();
report({ written: Object.fromEntries(written) });

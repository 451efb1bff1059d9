// A process that works on many threads at once, and dies with SIGKILL when each of them is held at the write it was given, or when
// nothing moves any more; or works on what it finds until all is over.
import { appendFileSync, writeSync } from "node:fs";
import { threads as makeThreads } from "@holdfast/threads";
import type { Host } from "holdfast";
import { systemPorts } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { projectIn } from "../simulation/threads-project.fixture.ts";
import { plans } from "./threads-cases.fixture.ts";
import { namedThreadWrites } from "./threads-writes.fixture.ts";

export interface ThreadsOptions {
	/** `alone`: does the cases to their end. `die`: does them and dies when each is held. `finish`: continues with all to their end. */
	readonly phase: "alone" | "die" | "finish";
	readonly path: string;
	/** Where tools and effects write what they did. */
	readonly deeds: string;
	/** Milliseconds by which the time of leases and claims has passed. */
	readonly later: number;
	readonly cases: readonly {
		/** The thread's id: the name of its plan, and a number. */
		readonly name: string;
		/** A write and whether it is held before or after it is made. */
		readonly holdAt?: string;
	}[];
}

const options = JSON.parse(process.argv[2] ?? "{}") as ThreadsOptions;
const { phase, cases } = options;
const holdAt = new Map(cases.map((each) => [each.name, each.holdAt]));
const held = new Set<string>();
const written = new Map<string, string[]>();
/** Looks, not time, for on a busy machine this process is paused too. */
let looksSinceWrite = 0;

function report(what: Readonly<Record<string, unknown>>): void {
	writeSync(1, `${JSON.stringify(what)}\n`);
}

const clock = { now: () => Date.now() + options.later, monotonic: () => performance.now() + options.later };
const base = sqliteHost({ path: options.path, clock });
const host: Host = namedThreadWrites(base, (name, write, moment) => {
	looksSinceWrite = 0;
	const list = written.get(name) ?? [];
	written.set(name, list);
	list.push(`${write} ${moment}`);
	const isNow = holdAt.get(name) === `${write} ${moment}`;
	// After what is held nothing more of the case is written; what is being written then may end.
	if (!isNow && (!held.has(name) || moment === "after")) return undefined;
	held.add(name);
	return new Promise<never>(() => {});
});

/** Each plan has a project of its own, whose threads are in a namespace of their own. */
const projects = Object.entries(plans).map(([plan, does]) => ({
	plan,
	threads: makeThreads({
		project: projectIn({
			plan: does,
			delayOf: (subject) => (subject.length % 2) * 20,
			pass: async () => {},
			begins() {},
			did: (what, key) => appendFileSync(options.deeds, `${JSON.stringify({ what, key })}\n`),
			wrong: (problem) => report({ problem }),
		}),
		host,
		namespace: plan,
		ports: { ...systemPorts, clock },
	}),
}));

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
	while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function isOver(): Promise<boolean> {
	const heads = await base.journal.list();
	return (
		heads.every(({ openRunId, waiting }) => openRunId === undefined && waiting === 0) &&
		(await base.timers.nextDue()) === undefined
	);
}

/** Makes the thread and says what begins it, unless that was done by a process that died. */
async function begin(name: string): Promise<void> {
	const { threads } = projects.find(({ plan }) => name.startsWith(`${plan}.`)) as (typeof projects)[number];
	if ((await threads.get(name)) === null) await threads.createThread({ agentId: "main", id: name });
	const { total = 0 } = (await (await threads.get(name))?.getMessages({ includeSilent: true })) ?? {};
	if (total === 0) await threads.queueMessage(name, { content: "said 1" });
}

const failed = (name: string) => (error: unknown) =>
	report({ failed: name, error: (error as Error).stack ?? String(error) });

for (const { threads } of projects) await threads.supervise({ lookEveryMs: 50 });
const begun = Promise.all(cases.map(({ name }) => begin(name).catch(failed(name))));
if (phase === "die") {
	await until(() => ++looksSinceWrite > 400 || cases.every(({ name }) => held.has(name)));
	report({ held: [...held] });
	process.kill(process.pid, "SIGKILL");
	for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
await begun;
await until(isOver);
for (const { threads } of projects) await threads.close();
await base.close();
report({ written: Object.fromEntries(written) });

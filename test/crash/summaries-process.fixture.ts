// A process with one conversation per case, whose summaries are written in the background. It dies with SIGKILL when each
// case is at the write where it is held, or works until all conversations are complete.
import { appendFileSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import type { Lease } from "holdfast/host";
import { compaction } from "holdfast/plugins";
import { sqliteHost } from "holdfast/sqlite";

export interface SummariesOptions {
	readonly phase: "alone" | "die" | "finish";
	readonly path: string;
	/** The file of what happened, by all processes, in order. */
	readonly log: string;
	/** Milliseconds by which the time of leases has passed. */
	readonly later: number;
	readonly turns: number;
	readonly cases: readonly { readonly name: string; readonly holdAt?: string }[];
}

/** What happened: a summary was requested or stored, or the model was called. */
export interface Happened {
	readonly name: string;
	readonly what: "asked" | "stored" | "called";
	/** The inputs in the text, by their numbers. */
	readonly inputs: readonly number[];
	/** The number of messages of a request. */
	readonly length?: number;
}

const options = JSON.parse(process.argv[2] ?? "{}") as SummariesOptions;
const byName = new Map(options.cases.map((each) => [each.name, each]));
const held = new Set<string>();
const written = new Map<string, string[]>();
let looksSinceWrite = Number.NEGATIVE_INFINITY;
const never = new Promise<never>(() => {});

function happened(name: string, what: Happened["what"], text: string, length?: number): void {
	const inputs = [...new Set([...text.matchAll(/input (\d+)/g)].map(([, number]) => Number(number)))];
	appendFileSync(options.log, `${JSON.stringify({ name, what, inputs, length })}\n`);
}

/** Makes a write, and holds the case before or after it. A case that is held makes no other write. */
async function atWrite<T>(name: string, kind: string, write: () => T | Promise<T>): Promise<T> {
	looksSinceWrite = 0;
	const list = written.get(name) ?? [];
	written.set(name, list);
	const number = list.filter((each) => each.startsWith(kind)).length + 1;
	list.push(`${kind} ${number}`);
	const { holdAt } = byName.get(name) ?? {};
	if (held.has(name) || holdAt === `${kind} ${number} before`) {
		held.add(name);
		return never;
	}
	const result = await write();
	if (held.has(name) || holdAt === `${kind} ${number} after`) {
		held.add(name);
		return never;
	}
	return result;
}

function overlay<T extends object>(object: T, methods: Partial<T>): T {
	return new Proxy(object, {
		get(target, name) {
			if (Object.hasOwn(methods, name)) return methods[name as keyof T];
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

const sqlite = sqliteHost({ path: options.path, clock: { now: () => Date.now() + options.later } });
const { journal, values } = sqlite;
const heldLease = (lease: Lease): Lease =>
	overlay(lease, { append: (batch) => atWrite(lease.key, "append", () => lease.append(batch)) });
const host: typeof sqlite = {
	...sqlite,
	journal: overlay(journal, {
		async acquire(key, how) {
			const acquired = await journal.acquire(key, how);
			return acquired.ok ? { ok: true, lease: heldLease(acquired.lease) } : acquired;
		},
	}),
	values: overlay(values, {
		values(key, owner) {
			const own = values.values(key, owner);
			const setIfExists = (name: string, value: unknown): Promise<boolean> =>
				atWrite(key, "value", async () => {
					const isSet = (await own.setIfExists?.(name, value)) === true;
					happened(key, "stored", String((value as readonly { text: string }[]).at(-1)?.text));
					return isSet;
				});
			return overlay(own, { setIfExists });
		},
	}),
};

const nameIn = (text: string): string => /case \d+/.exec(text)?.[0] ?? "";
const model = scriptedModel(({ messages }) => {
	const text = JSON.stringify(messages);
	happened(nameIn(text), "called", text, messages.length);
	return "Noted.";
});
const agent = new Agent({
	model,
	host,
	plugins: [
		compaction({
			maxTokens: 8,
			keepRecent: 2,
			prepareAt: 0.6,
			estimate: () => 1,
			async summarise(request) {
				const name = nameIn(request);
				happened(name, "asked", request);
				await wait(1);
				return [...new Set(request.match(/input \d+/g)), `of ${name}`].join(" ");
			},
		}),
	],
});

async function play(name: string): Promise<void> {
	const session = agent.session(name);
	await (await session.resume())?.result();
	for (let turn = 0; turn < options.turns; turn++) {
		const input = `input ${turn} of ${name}`;
		const { messages } = await session.state();
		if (messages.some(({ text }) => text === input)) continue;
		await (await session.send(input)).result();
	}
}

const played = Promise.all(options.cases.map(({ name }) => play(name)));
if (options.phase === "die") {
	const isHeld = (): boolean => options.cases.every(({ name }) => held.has(name));
	while (!isHeld() && ++looksSinceWrite < 600) await wait(5);
	writeSync(1, `${JSON.stringify({ held: [...held] })}\n`);
	process.kill(process.pid, "SIGKILL");
	await never;
}
await played;
await agent.close();
await sqlite.close();
writeSync(1, `${JSON.stringify({ written: Object.fromEntries(written) })}\n`);

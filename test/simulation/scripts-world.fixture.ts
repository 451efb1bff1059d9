// A world of code mode: random scripts with calls of different durations, approvals, races of results and failures, on workers
// that die one after the other. What comes out is compared with what the same script computes without any of that.
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type Host, tool } from "holdfast";
import { type Append, type Entry, type Fact, type Journal, journalHost, type Lease } from "holdfast/host";
import { type Death, DyingStore } from "../shared/dying-host.fixture.ts";
import { Draws } from "./gates.fixture.ts";

/** Faults on purpose, that the checks must find, with what each does. */
export const scriptFaults = {
	"result-changed": "the result of a call is stored with another value",
	"result-lost": "the result of a call is acknowledged and not stored",
	"result-twice": "the result of a call is stored twice",
	"start-lost": "the start of a call is acknowledged and not stored",
	"key-changed": "a call starts under another key",
	"approval-turned": "the denial of a call is stored as its result",
	"end-twice": "the end of a run is stored twice",
} as const;

export type ScriptFault = keyof typeof scriptFaults;

const sandbox = createSandbox({ workers: 2 });

/** Ends the sandbox that all worlds share. */
export function closeScripts(): Promise<void> {
	return sandbox.close();
}

/** Runs the world of a seed. Returns the first thing that is wrong; undefined if nothing is. */
export async function runScriptsWorld(seed: number, fault?: ScriptFault): Promise<string | undefined> {
	return new ScriptsWorld(seed, fault).run();
}

const isDenied = (name: string): boolean => name.endsWith("3") || name.endsWith("7");
const fails = (name: string): boolean => name.endsWith("5");

class ScriptsWorld {
	readonly #draws: Draws;
	readonly #fault: ScriptFault | undefined;
	readonly #store = new DyingStore();
	readonly #code: string;
	readonly #deaths: readonly Death[];
	/** The keys under which each call ran. */
	readonly #keys = new Map<string, Set<string>>();
	#names = 0;
	#problem: string | undefined;

	constructor(seed: number, fault: ScriptFault | undefined) {
		const draws = new Draws(seed);
		this.#draws = draws;
		this.#fault = fault;
		this.#code = `const seen = [];\n${this.#block(2)}\nreturn seen;`;
		this.#deaths = Array.from({ length: draws.below(4) }, () => ({
			at: 1 + draws.below(12),
			when: draws.chance(50) ? "before" : "after",
		}));
	}

	#block(depth: number): string {
		return Array.from({ length: 1 + this.#draws.below(3) }, () => this.#statement(depth)).join("\n");
	}

	#statement(depth: number): string {
		const draws = this.#draws;
		const call = (): string => {
			const input = `{ name: "n${++this.#names}", turns: ${draws.below(5)} }`;
			return `tools.${draws.chance(25) ? "ask" : "work"}(${input}).catch((error) => "caught")`;
		};
		if (depth === 0 || draws.chance(40)) return `seen.push(await ${call()});`;
		const kind = draws.below(3);
		if (kind === 0) {
			const parts = Array.from(
				{ length: 2 + draws.below(2) },
				() => `(async () => { const seen = []; ${this.#block(depth - 1)} return seen; })()`,
			);
			return `seen.push(await Promise.all([${parts.join(", ")}]));`;
		}
		if (kind === 1) {
			const items = Array.from(
				{ length: 2 + draws.below(3) },
				() =>
					`async () => tools.work({ name: (await ${call()}).replace("did ", "") + "-then", turns: ${draws.below(3)} }).catch(() => "caught")`,
			);
			return `seen.push(await Promise.all([${items.join(", ")}].map((item) => item())));`;
		}
		return `for (const each of [${call()}, ${call()}]) seen.push(await each);`;
	}

	async run(): Promise<string | undefined> {
		let ended: string | "died" | "stuck" = "died";
		for (const death of [...this.#deaths, undefined]) {
			const { host, died } = this.#store.worker(death);
			const agent = this.#agent(this.#faulty(host));
			const life = new AbortController();
			ended = await Promise.race([this.#work(agent, life.signal), died, this.#stuck()]);
			life.abort();
			if (ended !== "died") break;
		}
		if (ended === "stuck") return this.#problem ?? "the script does not end";
		return this.#problem ?? this.#check(ended);
	}

	#stuck(): Promise<"stuck"> {
		const wait = this.#fault === undefined ? 60_000 : 3_000;
		return new Promise((resolve) => setTimeout(() => resolve("stuck"), wait).unref());
	}

	#agent(host: Host): Agent {
		const parameters = {
			type: "object",
			properties: { name: { type: "string" }, turns: { type: "number" } },
		};
		const own = (name: "work" | "ask") =>
			tool({
				name,
				description: "Works for some turns.",
				parameters,
				retryPolicy: "idempotent",
				needsApproval: name === "ask",
				run: (input: { name: string; turns: number }, context) =>
					this.#perform(input, context.toolCallId, context.idempotencyKey),
			});
		const arguments_ = { code: this.#code };
		return new Agent({
			model: scriptedModel(({ messages }) =>
				messages.length > 1 ? "Done." : { toolCalls: [{ name: "run_code", arguments: arguments_ }] },
			),
			tools: [codeMode({ tools: [own("work"), own("ask")], sandbox, concurrency: 3 })],
			host,
			maxRestarts: 1_000,
			onWarning: () => {},
		});
	}

	/** The effect of a call: it must be on record, and must not have its result. */
	async #perform(
		{ name, turns }: { name: string; turns: number },
		callId: string,
		key: string,
	): Promise<string> {
		const facts = this.#entries().map(({ fact }) => fact);
		if (!facts.some((fact) => fact.kind === "tool.started" && fact.callId === callId))
			this.#wrong(`${name} is not on record`);
		if (facts.some((fact) => fact.kind === "tool.settled" && fact.callId === callId))
			this.#wrong(`${name} is done again`);
		this.#keys.set(name, (this.#keys.get(name) ?? new Set()).add(key));
		for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
		if (fails(name)) throw new Error(`${name} fails`);
		return `did ${name}`;
	}

	#wrong(what: string): void {
		this.#problem ??= what;
	}

	#entries(): readonly Entry[] {
		const { journal } = this.#store;
		const keys = (journal.list({}) as readonly { readonly key: string }[]).map(({ key }) => key);
		return keys.flatMap((key) => journal.read(key) as readonly Entry[]);
	}

	/** Starts or resumes the run, and answers its approvals until it ends. Returns the result of the script. */
	async #work(agent: Agent, signal: AbortSignal): Promise<string> {
		const session = agent.session("s");
		if (this.#store.journal.head("s") === undefined)
			(await session.send("Go.", { dedupeKey: "once" })).detach();
		else (await session.resume())?.detach();
		void this.#attend(agent, signal);
		for await (const { event } of session.follow({ until: "never", signal }))
			if (event.type === "run_end") break;
		const { messages } = await session.state();
		const results = messages.flatMap((message) => ("results" in message ? message.results : []));
		return String((results as readonly { readonly result: unknown }[]).at(-1)?.result);
	}

	async #attend(agent: Agent, signal: AbortSignal): Promise<void> {
		const session = agent.session("s");
		while (!signal.aborted) {
			await new Promise((resolve) => setTimeout(resolve, 2));
			try {
				for (const call of await session.pending()) {
					const { name } = call.arguments as { readonly name: string };
					(await session.answer([{ toolCallId: call.toolCallId, approved: !isDenied(name) }])).detach();
				}
			} catch (error) {
				const { code = "" } = error as { readonly code?: string };
				if (!expectedErrors.has(code) && !signal.aborted) this.#wrong(`${code}: ${(error as Error).message}`);
			}
		}
	}

	async #check(result: string): Promise<string | undefined> {
		const tools = {
			work: async ({ name }: { name: string }) => {
				if (fails(name)) throw new Error(name);
				return `did ${name}`;
			},
			ask: async ({ name }: { name: string }) => {
				if (isDenied(name) || fails(name)) throw new Error(name);
				return `did ${name}`;
			},
		};
		const run = new Function("tools", `return (async () => {${this.#code}\n})()`) as (
			given: object,
		) => Promise<unknown>;
		const expected = JSON.stringify(await run(tools));
		if (result !== expected) return `the result is ${result} instead of ${expected}`;
		for (const [name, keys] of this.#keys)
			if (keys.size > 1 && !name.endsWith("-then")) return `${name} ran under ${keys.size} keys`;
		const entries = this.#entries();
		const settled = entries.flatMap(({ fact, runId }) =>
			fact.kind === "tool.settled" ? [`${runId} ${fact.callId}`] : [],
		);
		if (new Set(settled).size !== settled.length) return "a call has two results";
		const ends = entries.flatMap(({ fact, runId }) => (fact.kind === "run.ended" ? [runId] : []));
		return ends.length === 2 && new Set(ends).size === 2 ? undefined : `there are ${ends.length} ends`;
	}

	/** A worker's store, with the planted fault in the session of the script. */
	#faulty(host: Host): Host {
		const fault = this.#fault;
		if (fault === undefined) return host;
		const { journal } = host;
		const alter = (batch: Append): Append => ({
			...batch,
			facts: batch.facts.flatMap((fact) => altered(fault, fact)),
		});
		const leased = (lease: Lease): Lease =>
			new Proxy(lease, {
				get(target, name) {
					const value = Reflect.get(target, name, target);
					if (name === "append") return (batch: Append) => target.append(alter(batch));
					return typeof value === "function" ? value.bind(target) : value;
				},
			});
		const own: Journal = {
			...journal,
			acquire: (key, options) => {
				const acquired = journal.acquire(key, options) as Awaited<ReturnType<Journal["acquire"]>>;
				const isScript = key !== "s" && acquired.ok;
				return isScript ? { ...acquired, lease: leased(acquired.lease) } : acquired;
			},
		};
		return journalHost(own);
	}
}

const expectedErrors: ReadonlySet<string> = new Set([
	"session_busy",
	"session_held",
	"no_pending_tool_calls",
	"tool_call_settled",
	"unknown_tool_call_id",
	"duplicate_tool_result",
	"lease_lost",
]);

function altered(fault: ScriptFault, fact: Fact): readonly Fact[] {
	const replaced: Fact = { kind: "note", step: 0, topic: "replaced", value: null };
	const isResult = fact.kind === "tool.settled" && fact.outcome === "done";
	switch (fault) {
		case "result-changed":
			return isResult ? [{ ...fact, result: `${String(fact.result)}!` }] : [fact];
		case "result-lost":
			return isResult ? [replaced] : [fact];
		case "result-twice":
			return isResult ? [fact, fact] : [fact];
		case "start-lost":
			return fact.kind === "tool.started" ? [replaced] : [fact];
		case "key-changed":
			return fact.kind === "tool.started"
				? [{ ...fact, idempotencyKey: `${fact.idempotencyKey}${Math.random()}` }]
				: [fact];
		case "approval-turned":
			return fact.kind === "tool.settled" && fact.outcome !== "done"
				? [{ ...fact, outcome: "done", result: "turned" }]
				: [fact];
		case "end-twice":
			return fact.kind === "run.ended" ? [fact, fact] : [fact];
		default:
			return fault satisfies never;
	}
}

// A world of workflows: random programs of steps, waits, events, approvals and child workflows, in rounds, on workers that
// die one after the other. What comes out is compared with what the program computes without any of that.
import type { Host } from "holdfast";
import { type Append, type Entry, type Fact, type Journal, journalHost, type Lease } from "holdfast/host";
import { type Workflow, workflow } from "holdfast/workflow";
import { type Death, DyingStore } from "../shared/dying-host.fixture.ts";
import { Draws } from "./gates.fixture.ts";

type Flow = Parameters<Parameters<typeof workflow>[1]>[0];

/** A program: what it computes is known without running it. */
type Program =
	| { readonly does: "step" | "event" | "approve" | "sleep" | "log"; readonly name: string }
	| { readonly does: "child" | "spawn"; readonly program: Program }
	| { readonly does: "all" | "sequence"; readonly parts: readonly Program[] };

/** Faults on purpose, that the checks must find, with what each does. */
export const workflowFaults = {
	"result-not-stored": "the result of a step is acknowledged and not stored",
	"call-not-stored": "a call is performed although it is not on record",
	"result-twice": "a result is stored twice",
	"event-lost": "an event is acknowledged and not stored",
	"event-twice": "an event is stored twice",
	"event-changed": "an event reaches the code with another payload",
	"decision-turned": "the result of an approval is stored as its opposite",
	"round-not-stored": "the beginning of another round is acknowledged and not stored",
	"child-lost": "the work of a child is acknowledged and not stored",
	"end-twice": "the end of a run is stored twice",
	"log-twice": "a line of the log is stored twice",
} as const;

export type WorkflowFault = keyof typeof workflowFaults;

/** Runs the world of a seed. Returns the first thing that is wrong; undefined if nothing is. */
export async function runWorkflowsWorld(seed: number, fault?: WorkflowFault): Promise<string | undefined> {
	const world = new WorkflowsWorld(seed, fault);
	return world.run();
}

class WorkflowsWorld {
	readonly #draws: Draws;
	readonly #fault: WorkflowFault | undefined;
	readonly #store = new DyingStore();
	readonly #program: Program;
	readonly #rounds: number;
	readonly #deaths: readonly Death[];
	readonly #sent = new Set<string>();
	#names = 0;
	#logs = 0;
	#problem: string | undefined;

	constructor(seed: number, fault: WorkflowFault | undefined) {
		const draws = new Draws(seed);
		this.#draws = draws;
		this.#fault = fault;
		this.#rounds = 1 + draws.below(3);
		this.#program = this.#draw(3);
		this.#deaths = Array.from({ length: draws.below(4) }, () => ({
			at: 1 + draws.below(12),
			when: draws.chance(50) ? "before" : "after",
		}));
	}

	#draw(depth: number, mayWait = true): Program {
		const draws = this.#draws;
		const name = `${String.fromCharCode(97 + draws.below(4))}${++this.#names}`;
		if (depth > 0 && draws.chance(60)) {
			const parts = Array.from({ length: 2 + draws.below(3) }, () => this.#draw(depth - 1, mayWait));
			return { does: draws.pick(["all", "sequence"] as const), parts };
		}
		if (depth > 0 && draws.chance(25))
			return { does: draws.pick(["child", "spawn"] as const), program: this.#draw(depth - 1, false) };
		const simple = [
			"step",
			"step",
			"sleep",
			"log",
			"approve",
			...(mayWait ? ["event" as const] : []),
		] as const;
		return { does: draws.pick(simple), name };
	}

	async run(): Promise<string | undefined> {
		let ended: { readonly outcome: string; readonly output?: unknown } | "died" | "stuck" = "died";
		for (const death of [...this.#deaths, undefined]) {
			const { host, died } = this.#store.worker(death);
			const parent = this.#workflows(this.#faulty(host));
			const life = new AbortController();
			ended = await Promise.race([this.#work(parent, life.signal), died, this.#stuck()]);
			life.abort();
			if (ended !== "died") break;
		}
		if (ended === "stuck") return this.#problem ?? "the workflow does not end";
		return this.#problem ?? this.#check(ended as Exclude<typeof ended, string>);
	}

	#stuck(): Promise<"stuck"> {
		const wait = this.#fault === undefined ? 60_000 : 2_000;
		return new Promise((resolve) => setTimeout(() => resolve("stuck"), wait).unref());
	}

	/** The parent, with its program's children. */
	#workflows(host: Host): Workflow<unknown> {
		const quiet = { host, maxRestarts: 1_000, onWarning: () => {} };
		const child = workflow({ name: "child", ...quiet }, (flow, program: Program) =>
			this.#run(flow, program, "c"),
		);
		return workflow({ name: "parent", workflows: [child], ...quiet }, async (flow, given: number | null) => {
			const round = given ?? 0;
			const value = await this.#run(flow, this.#program, `${round}`, child);
			await flow.state({ round });
			return round + 1 < this.#rounds ? flow.continueAsNew(round + 1) : value;
		}) as Workflow<unknown>;
	}

	async #run(flow: Flow, program: Program, round: string, child?: Workflow<Program>): Promise<unknown> {
		switch (program.does) {
			case "step":
				return flow.step(program.name, ({ idempotencyKey }) => this.#perform(program.name, idempotencyKey), {
					retryPolicy: "idempotent",
				});
			case "sleep":
				return flow.sleep(1).then(() => "slept");
			case "log":
				return flow.log(program.name).then(() => "logged");
			case "event":
				return flow.event(`${program.name} ${round}`);
			case "approve":
				return flow.approve(program.name);
			case "child":
				return child === undefined ? "no child" : flow.child(child, program.program);
			case "spawn":
				return child === undefined ? "no child" : flow.spawn(child, program.program).result();
			case "all":
				return Promise.all(
					program.parts.map((part, at) => this.#run(flow.branch(`b${at}`), part, round, child)),
				);
			case "sequence": {
				const values: unknown[] = [];
				for (const part of program.parts) values.push(await this.#run(flow, part, round, child));
				return values;
			}
			default:
				return program satisfies never;
		}
	}

	/** What the program computes. */
	#expected(program: Program, isChild: boolean): unknown {
		switch (program.does) {
			case "step":
				return `did ${program.name}`;
			case "sleep":
				return "slept";
			case "log":
				this.#logs++;
				return "logged";
			case "event":
				return `payload of ${program.name}`;
			case "approve":
				return isApproved(program.name);
			case "child":
			case "spawn":
				return isChild ? "no child" : this.#expected(program.program, true);
			default:
				return program.parts.map((part) => this.#expected(part, isChild));
		}
	}

	/** The effect of a step: it must be on record, and must not have its result. */
	#perform(name: string, key: string): string {
		const entries = this.#entries();
		const runs = [...new Set(entries.map(({ runId }) => runId))].filter((run) => key.startsWith(`${run}.`));
		const runId = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
		const id = key.slice(runId.length + 1).replace(/^\d+~/, "");
		const notes = entries.flatMap(({ fact, runId: of }) =>
			of === runId && fact.kind === "note" ? [fact] : [],
		);
		const begun = notes.findLastIndex(({ topic }) => topic === "workflow-continued");
		const own = notes.slice(begun + 1).filter(({ value }) => (value as { id?: string }).id === id);
		if (own.every(({ topic }) => topic !== "workflow-called")) this.#wrong(`${name} is not on record`);
		if (own.some(({ topic }) => topic === "workflow-settled")) this.#wrong(`${name} is done again`);
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

	/** Starts or resumes the run, and gives it answers and events until it ends. */
	async #work(parent: Workflow<unknown>, signal: AbortSignal): Promise<{ readonly outcome: string }> {
		const session = parent.session("s");
		if (this.#store.journal.head("s") === undefined)
			(await session.send(undefined, { dedupeKey: "once" })).run.detach();
		else (await session.session.resume())?.detach();
		void this.#attend(parent, signal);
		for await (const { event } of session.session.follow({ until: "never", signal }))
			if (event.type === "run_end") return event;
		return new Promise(() => {});
	}

	async #attend(parent: Workflow<unknown>, signal: AbortSignal): Promise<void> {
		const session = parent.session("s");
		const events = eventsOf(this.#program);
		while (!signal.aborted) {
			await new Promise((resolve) => setTimeout(resolve, 2));
			try {
				for (const call of await session.session.pending()) {
					const { name } = call.arguments as { readonly name: string };
					const approved = isApproved(name);
					(await session.session.answer([{ toolCallId: call.toolCallId, approved }])).detach();
				}
				for (let round = 0; round < this.#rounds; round++)
					for (const name of events) {
						const dedupeKey = `${name} ${round}`;
						if (this.#sent.has(dedupeKey) || signal.aborted) continue;
						await session.signal(dedupeKey, `payload of ${name}`, { dedupeKey });
						this.#sent.add(dedupeKey);
					}
			} catch (error) {
				const { code = "" } = error as { readonly code?: string };
				if (!expectedErrors.has(code) && !signal.aborted) this.#wrong(`${code}: ${(error as Error).message}`);
				// The worker that accepted the event may have died before it reported that.
				if (code === "duplicate_input")
					for (let round = 0; round < this.#rounds; round++)
						for (const name of events)
							if (this.#isStored(`${name} ${round}`)) this.#sent.add(`${name} ${round}`);
			}
		}
	}

	#isStored(event: string): boolean {
		const { journal } = this.#store;
		const texts = [
			...(journal.inbox("s") as readonly unknown[]),
			...(journal.read("s") as readonly unknown[]),
		];
		// Only the message of an event contains this text: quotes within it are escaped.
		const text = JSON.stringify(JSON.stringify({ event }).slice(0, -1)).slice(1, -1);
		return texts.some((each) => JSON.stringify(each).includes(text));
	}

	#check({ outcome, output }: { readonly outcome: string; readonly output?: unknown }): string | undefined {
		const expected = this.#expected(this.#program, false);
		if (outcome !== "completed") return `the workflow ended: ${outcome}`;
		if (JSON.stringify(output) !== JSON.stringify(expected))
			return `the result is ${JSON.stringify(output)} instead of ${JSON.stringify(expected)}`;
		const entries = this.#entries();
		const runs = new Set(entries.map(({ runId }) => runId));
		let logs = 0;
		for (const run of runs) {
			const own = entries.filter(({ runId }) => runId === run);
			const ends = own.filter(({ fact }) => fact.kind === "run.ended").length;
			if (ends !== 1) return `a run ends ${ends} times`;
			const settled = new Set<string>();
			const logged = new Set<string>();
			for (const { fact } of own) {
				if (fact.kind !== "note") continue;
				const { id } = fact.value as { readonly id: string };
				if (fact.topic === "workflow-continued") settled.clear();
				if (fact.topic === "workflow-continued") logged.clear();
				if (fact.topic === "workflow-log") logs++;
				if (fact.topic === "workflow-log" && logged.has(id)) return `${id} is logged twice`;
				if (fact.topic === "workflow-log") logged.add(id);
				if (fact.topic !== "workflow-settled") continue;
				if (settled.has(id)) return `${id} is settled twice`;
				settled.add(id);
			}
		}
		const inputs = entries.filter(({ fact }) => fact.kind === "input").length;
		const most = runs.size + this.#rounds * eventsOf(this.#program).length;
		if (inputs > most) return `${inputs} inputs were taken instead of at most ${most}`;
		const perRound = this.#logs;
		return logs === perRound * this.#rounds
			? undefined
			: `${logs} lines are logged, not ${perRound * this.#rounds}`;
	}

	/** A worker's store, with the planted fault. */
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
				return acquired.ok ? { ...acquired, lease: leased(acquired.lease) } : acquired;
			},
			submit: (key, input) => {
				const isEvent = input.kind === "notice";
				if (fault === "event-lost" && isEvent) return { duplicate: false } as never;
				if (fault === "child-lost" && key !== "s") return { duplicate: false } as never;
				if (fault === "event-twice" && isEvent)
					void journal.submit(key, {
						...input,
						id: `${input.id}-again`,
						dedupeKey: `${input.dedupeKey}-again`,
					});
				if (fault !== "event-changed" || !isEvent) return journal.submit(key, input);
				const text = JSON.stringify(input.body).replaceAll("payload of", "payload for");
				return journal.submit(key, { ...input, body: JSON.parse(text) });
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
	"duplicate_input",
	"duplicate_tool_result",
	"workflow_not_running",
	"lease_lost",
]);

function isApproved(name: string): boolean {
	return name.charCodeAt(0) % 2 === 0;
}

/** Names of the events that the program waits for. Children wait for none. */
function eventsOf(program: Program): readonly string[] {
	if (program.does === "event") return [program.name];
	return "parts" in program ? program.parts.flatMap(eventsOf) : [];
}

function altered(fault: WorkflowFault, fact: Fact): readonly Fact[] {
	const topic = fact.kind === "note" ? fact.topic : "";
	const replaced: Fact = { kind: "note", step: 0, topic: "replaced", value: { id: "" } };
	switch (fault) {
		case "result-not-stored":
			return topic === "workflow-settled" ? [replaced] : [fact];
		case "call-not-stored":
			return topic === "workflow-called" ? [replaced] : [fact];
		case "round-not-stored":
			return topic === "workflow-continued" ? [replaced] : [fact];
		case "result-twice":
			return topic === "workflow-settled" ? [fact, fact] : [fact];
		case "log-twice":
			return topic === "workflow-log" ? [fact, fact] : [fact];
		case "end-twice":
			return fact.kind === "run.ended" ? [fact, fact] : [fact];
		case "decision-turned":
			return fact.kind === "tool.settled" && fact.result === true ? [{ ...fact, result: false }] : [fact];
		default:
			return [fact];
	}
}

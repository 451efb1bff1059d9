// A world of workflows: a random program, in rounds, on workers that die, stall or compete. Its result is compared with
// what the program may return, and its journal with what has happened.
import { setTimeout as wait } from "node:timers/promises";
import type { Entry } from "holdfast/host";
import type { Workflow } from "holdfast/workflow";
import { type Death, DyingStore } from "../shared/dying-host.fixture.ts";
import { Draws } from "./gates.fixture.ts";
import { stoppableHost } from "./stoppable-host.fixture.ts";
import { type End, endProblem, recordProblem } from "./workflow-checks.fixture.ts";
import { type Effect, programWorkflow } from "./workflow-code.fixture.ts";
import { brokenUndo, faultyHost, type WorkflowFault } from "./workflow-faults.fixture.ts";
import { certainParts, drawProgram, eventsOf, isApproved, type Program } from "./workflow-program.fixture.ts";

/** Runs the world of a seed. Returns the first thing that is wrong; undefined if nothing is. */
export async function runWorkflowsWorld(seed: number, fault?: WorkflowFault): Promise<string | undefined> {
	return new WorkflowsWorld(seed, fault).run().catch(String);
}

/** A process. */
interface Worker {
	readonly workflow: Workflow<unknown>;
	/** Ends it for good. The others take it for dead. */
	stop(): void;
	/** Resolves when the others take it for dead. A stalled worker continues to run. */
	readonly died: Promise<"died">;
	isDead: boolean;
	/** Whether it continues to run although the others take it for dead. */
	isStalled: boolean;
}

/** Workers that run at the same time. */
interface Crew {
	readonly deaths: readonly (Death | undefined)[];
	/** The first worker stalls during this effect, counted from 1. */
	readonly stallsAt: number | undefined;
	/** Whether its code has the later changes. */
	readonly isLater: boolean;
}

/** A world with a planted fault is stuck if so many looks at it, every 5 milliseconds, find no append. */
const idleLooks = 60;

class WorkflowsWorld {
	readonly #draws: Draws;
	readonly #fault: WorkflowFault | undefined;
	readonly #store = new DyingStore();
	readonly #program: Program;
	readonly #rounds: number;
	readonly #crews: readonly Crew[];
	/** How late the store answers; undefined: it answers at once. */
	readonly #pauses: Draws | undefined;
	readonly #workers: Worker[] = [];
	readonly #sent = new Set<string>();
	/** How often each effect has happened, by its key. */
	readonly #happened = new Map<string, number>();
	/** The keys of each name. */
	readonly #keys = new Map<string, Set<string>>();
	#problem: string | undefined;

	constructor(seed: number, fault: WorkflowFault | undefined) {
		const draws = new Draws(seed);
		this.#draws = draws;
		this.#fault = fault;
		this.#rounds = draws.chance(30) ? 2 : 1;
		this.#program = drawProgram(draws);
		const changesAt = draws.below(3);
		const crews = draws.below(4);
		this.#crews = Array.from({ length: crews + 1 }, (_, at) => {
			const isLast = at === crews;
			const hasRival = draws.chance(35);
			return {
				deaths: [
					isLast ? undefined : this.#death(),
					...(hasRival ? [isLast ? undefined : this.#death()] : []),
				],
				stallsAt: !isLast && draws.chance(25) ? 1 + draws.below(6) : undefined,
				isLater: at >= changesAt,
			};
		});
		this.#pauses = fault === undefined && draws.chance(25) ? draws : undefined;
	}

	#death(): Death {
		const draws = this.#draws;
		return { at: 1 + draws.below(draws.pick([4, 12, 40])), when: draws.chance(50) ? "before" : "after" };
	}

	async run(): Promise<string | undefined> {
		let end: End | "died" | "stuck" = "died";
		for (const crew of this.#crews) {
			end = await this.#runCrew(crew);
			if (end !== "died") break;
		}
		if (end === "stuck")
			return this.#problem ?? `the workflow does not end: ${JSON.stringify(this.#program)}`;
		// What the workers leave open, such as cancelled children, is ended by the process that looks for work next.
		for (const worker of this.#workers) worker.stop();
		const { workflow } = this.#worker({ deaths: [], stallsAt: undefined, isLater: true }, undefined, false);
		await workflow.recover();
		return this.#problem ?? this.#check(end as End);
	}

	/** Runs the workers of a crew until the run has ended or they are all dead. */
	async #runCrew(crew: Crew): Promise<End | "died" | "stuck"> {
		const life = new AbortController();
		const workers = crew.deaths.map((death, at) => this.#worker(crew, death, at === 0));
		// Workers that compete, also with a stalled worker, look for the work of those that have died.
		if (workers.length > 1 || this.#workers.some(({ isStalled }) => isStalled))
			for (const { workflow } of workers)
				void workflow.supervise({ lookEveryMs: 5, onProblem: () => {} }).catch(() => {});
		const works = workers.map((worker, at) =>
			Promise.race([this.#work(worker, life.signal, workers[at - 1]), worker.died]),
		);
		const ended = Promise.any(
			works.map(async (work) => ((await work) === "died" ? Promise.reject("died") : ((await work) as End))),
		).catch(() => "died" as const);
		const end = await Promise.race([ended, this.#stuck(life.signal)]);
		life.abort();
		// A worker that dies while it closes never does.
		const living = workers.filter(({ isDead }) => !isDead);
		const closed = living.map(({ workflow, died }) => Promise.race([workflow.close(), died]));
		await Promise.race([Promise.allSettled(closed), wait(30_000, undefined, { ref: false })]);
		return end;
	}

	/** Resolves when the run does not end, which is only certain for a world without a fault if much time has passed. */
	async #stuck(signal: AbortSignal): Promise<"stuck"> {
		const look = (after: number): Promise<unknown> =>
			wait(after, undefined, { signal, ref: false }).catch(() => {});
		if (this.#fault === undefined) await look(60_000);
		let before = -1;
		for (let idle = 0; idle < idleLooks && this.#fault !== undefined && !signal.aborted; ) {
			await look(5);
			const { appends } = this.#store;
			idle = appends === before ? idle + 1 : 0;
			before = appends;
		}
		return "stuck";
	}

	#worker({ isLater, stallsAt }: Crew, death: Death | undefined, isFirst: boolean): Worker {
		const made = this.#store.worker(death);
		const { host, stop } = stoppableHost(made.host, this.#pauses);
		let stall = (): void => {};
		const stalled = new Promise<"died">((resolve) => {
			stall = () => {
				made.die();
				worker.isDead = true;
				worker.isStalled = true;
				resolve("died");
			};
		});
		void made.died.then(() => {
			worker.isDead = true;
		});
		let effects = 0;
		const undo = brokenUndo(this.#fault);
		const worker: Worker = {
			isDead: false,
			isStalled: false,
			died: Promise.race([made.died, stalled]),
			stop() {
				stop();
				made.die();
			},
			workflow: programWorkflow({
				host: faultyHost(host, this.#fault),
				program: this.#program,
				rounds: this.#rounds,
				isLater,
				repeatsOnce: this.#fault === "once-again",
				...(undo === undefined ? {} : { undo }),
				perform: (effect) => {
					this.#perform(effect, worker.isDead);
					if (isFirst && ++effects === stallsAt) stall();
				},
				hasHappened: (key) => this.#happened.has(key),
			}),
		};
		this.#workers.push(worker);
		return worker;
	}

	/** Starts or resumes the run, and gives it answers and events until it ends. A rival waits for its turn. */
	async #work({ workflow }: Worker, signal: AbortSignal, rival?: Worker): Promise<End> {
		const session = workflow.session("s");
		while (rival?.isDead === false && this.#store.journal.head("s") === undefined) await wait(1);
		if (this.#store.journal.head("s") === undefined)
			(await session.send(undefined, { dedupeKey: "once" })).run.detach();
		else if (rival === undefined) (await session.session.resume())?.detach();
		void this.#attend(workflow, signal);
		for await (const { event } of session.session.follow({ until: "never", signal }))
			if (event.type === "run_end") return event as End;
		return new Promise(() => {});
	}

	async #attend(workflow: Workflow<unknown>, signal: AbortSignal): Promise<void> {
		const session = workflow.session("s");
		while (!signal.aborted) {
			await wait(2);
			try {
				for (const call of await session.session.pending()) {
					const approved = isApproved((call.arguments as { readonly name: string }).name);
					(await session.session.answer([{ toolCallId: call.toolCallId, approved }])).detach();
				}
				for (const dedupeKey of this.#events()) {
					if (this.#sent.has(dedupeKey) || signal.aborted) continue;
					const name = dedupeKey.slice(0, dedupeKey.lastIndexOf(" "));
					await session.signal(dedupeKey, `payload of ${name}`, { dedupeKey });
					this.#sent.add(dedupeKey);
				}
			} catch (error) {
				const { code = "" } = error as { readonly code?: string };
				if (!expectedErrors.has(code) && !signal.aborted) this.#wrong(`${code}: ${(error as Error).message}`);
			}
		}
	}

	/** The events of each round. */
	#events(): readonly string[] {
		const names = eventsOf(this.#program);
		return Array.from({ length: this.#rounds }, (_, round) => names.map((name) => `${name} ${round}`)).flat();
	}

	/** An effect must be on record before it happens, and must not have its result. */
	#perform({ kind, name, key, isOnce }: Effect, isDead: boolean): void {
		const count = (this.#happened.get(key) ?? 0) + 1;
		this.#happened.set(key, count);
		if (isOnce && count > 1) this.#wrong(`${name} is done ${count} times`);
		if (kind === "model") return;
		const named = kind === "undo" ? `undo ${name}` : name;
		this.#keys.set(named, (this.#keys.get(named) ?? new Set()).add(key));
		const entries = this.#entries();
		if (kind === "tool") this.#performTool(name, key, entries);
		else this.#performStep(name, key, { entries, isDead });
	}

	#performStep(
		name: string,
		key: string,
		{ entries, isDead }: { readonly entries: readonly Entry[]; readonly isDead: boolean },
	): void {
		const runs = [...new Set(entries.map(({ runId }) => runId))].filter((run) => key.startsWith(`${run}.`));
		const runId = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
		const id = key.slice(runId.length + 1).replace(/^\d+~/, "");
		const facts = entries.flatMap(({ fact, runId: of }) => (of === runId ? [fact] : []));
		const notes = facts.flatMap((fact) => (fact.kind === "note" ? [fact] : []));
		const begun = notes.findLastIndex(({ topic }) => topic === "workflow-continued");
		const own = notes.slice(begun + 1).filter(({ value }) => (value as { id?: string }).id === id);
		if (own.every(({ topic }) => topic !== "workflow-called")) this.#wrong(`${name} is not on record`);
		// Others may have continued the run since this worker recorded the attempt.
		if (isDead) return;
		const tries = own.filter(({ topic }) => topic === "workflow-retried").length;
		const starts = own.filter(({ topic }) => topic === "workflow-started").length;
		if (tries !== starts) this.#wrong(`attempt ${tries + 1} of ${name} is not on record`);
		if (own.some(({ topic }) => topic === "workflow-settled")) this.#wrong(`${name} is done again`);
		// A run is killed while its step begins if the store answers late.
		const hasEnded = facts.some((fact) => fact.kind === "run.ended" && fact.outcome !== "killed");
		if (hasEnded) this.#wrong(`${name} is done after the end`);
	}

	#performTool(name: string, key: string, entries: readonly Entry[]): void {
		const started = entries.filter(({ fact }) => fact.kind === "tool.started" && fact.idempotencyKey === key);
		if (started.length === 0) this.#wrong(`the tool call for ${name} is not on record`);
		const ids = new Set(started.map(({ fact, runId }) => `${runId} ${(fact as { callId: string }).callId}`));
		for (const { fact, runId } of entries)
			if (fact.kind === "tool.settled" && ids.has(`${runId} ${fact.callId}`))
				this.#wrong(`the tool call for ${name} is made again`);
	}

	#wrong(what: string): void {
		this.#problem ??= what;
	}

	#entries(): readonly Entry[] {
		const { journal } = this.#store;
		const keys = (journal.list({}) as readonly { readonly key: string }[]).map(({ key }) => key);
		return keys.flatMap((key) => journal.read(key) as readonly Entry[]);
	}

	#check(end: End): string | undefined {
		const entries = this.#entries();
		const about = {
			beganWithEarlierCode: this.#crews[0]?.isLater === false,
			hasDeaths: this.#crews.length > 1,
		};
		const rounds = this.#rounds;
		return (
			endProblem(this.#program, end, about) ??
			recordProblem(this.#program, entries, { end, rounds }) ??
			this.#effectsProblem(end, entries)
		);
	}

	/** Each effect has one key in each round. Nothing is lost, and without deaths nothing is repeated. */
	#effectsProblem({ outcome }: End, entries: readonly Entry[]): string | undefined {
		for (const [name, keys] of this.#keys)
			if (keys.size > this.#rounds) return `${name} has ${keys.size} keys in ${this.#rounds} rounds`;
		const certain = outcome === "completed" ? certainParts(this.#program) : [];
		for (const part of certain)
			if ("name" in part && onceAtLeast.has(part.does) && this.#keys.get(part.name)?.size !== this.#rounds)
				return `${part.name} has not happened in each round`;
		const isUndisturbed = this.#crews.length === 1;
		for (const [key, count] of this.#happened)
			if (isUndisturbed && count > (repeated.test(key) ? 4 : this.#rounds))
				return `${key} happens ${count} times`;
		const runs = new Set(entries.map(({ runId }) => runId));
		const inputs = entries.filter(({ fact }) => fact.kind === "input").length;
		const told = JSON.stringify(this.#program).match(/"(tell|message)"/g)?.length ?? 0;
		const most = runs.size + this.#rounds * (eventsOf(this.#program).length + told);
		return inputs > most ? `${inputs} inputs were taken instead of at most ${most}` : undefined;
	}
}

const onceAtLeast: ReadonlySet<string> = new Set([
	"step",
	"undoable",
	"retried",
	"once",
	"reconciled",
	"slow",
	"tool",
	"askedTool",
	"tell",
]);
/** Keys of steps that fail on purpose. */
const repeated = /\.(\d+~)?.*(retried|failing|slow)/;

const expectedErrors: ReadonlySet<string> = new Set([
	"session_busy",
	"session_held",
	"no_pending_tool_calls",
	"tool_call_settled",
	"unknown_tool_call_id",
	"duplicate_tool_result",
	"workflow_not_running",
	"lease_lost",
]);

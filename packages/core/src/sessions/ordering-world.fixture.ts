// Random schedules of requests to one session, in two processes over one store, checked against the ordering table:
// requests run one at a time in call order, with the predicted outcomes, and inputs are accepted in the predicted order.

import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { after } from "@holdfast/upp";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import type { Append, Journal, Lease } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import type { AgentRun } from "./agent-run.ts";
import { type Asked, type Process, problemOf, type Request } from "./ordering-checks.fixture.ts";
import { rest, Steps, seenJournal } from "./ordering-steps.fixture.ts";
import type { SeenState } from "./ordering-table.fixture.ts";
import { SessionQueue } from "./session-queue.ts";

/** Where the session is stored: in a synchronous memory store, a slow one, or a bare session store. */
export type OrderingHost = "at-once" | "slow" | "bare";

export interface OrderingResult {
	readonly seed: number;
	readonly problem?: string;
	readonly trace: readonly string[];
}

const requests = [
	"send",
	"send",
	"send",
	"steer",
	"steer",
	"start",
	"edit",
	"answer",
	"stop",
] as const satisfies readonly Request[];
const more = [
	"interrupt",
	"resume",
	"fork",
	"kill",
	"delete",
	"send",
	"steer",
] as const satisfies readonly Request[];

/** A request in the line of a queue. */
interface Place {
	readonly number: number;
	state: "waits" | "carried-out" | "over";
}

class World {
	readonly trace: string[] = [];
	readonly processes: Process[] = [];
	readonly asked: Asked[] = [];
	problem: string | undefined;
	readonly #draw: (below: number) => number;
	readonly #slow: boolean;
	readonly #isBare: boolean;
	readonly #steps: Steps;
	#moments = 0;
	#state: "idle" | "waiting" | "parked" | Process = "idle";
	/** Requests that are running. */
	readonly #watching = new Set<Asked>();
	readonly #places = new WeakMap<SessionQueue, Place[]>();
	#asking: Asked | undefined;
	readonly #newWorker: (name: string) => Journal;
	readonly #die: (journal: Journal) => void;

	constructor(seed: number, host: OrderingHost) {
		this.#steps = new Steps(seed);
		this.#draw = this.#steps.draw;
		this.#slow = host !== "at-once";
		this.#isBare = host === "bare";
		if (host === "bare") {
			const store = new MemorySessionStore();
			this.#newWorker = (workerId) => storeJournal(store, { workerId });
			this.#die = (journal) => void journal.close();
		} else {
			const first = memoryJournal({ workerId: "store" });
			const workers = new Map<Journal, ReturnType<typeof first.worker>>();
			this.#newWorker = (name) => {
				const worker = first.worker(name);
				workers.set(worker, worker);
				return worker;
			};
			this.#die = (journal) => workers.get(journal)?.die();
		}
	}

	wrong(problem: string): void {
		this.problem ??= problem;
		this.trace.push(`WRONG: ${problem}`);
	}

	start(): void {
		const name = `p${this.processes.length + 1}`;
		const inner = this.#newWorker(name);
		const process = { name, journal: inner, isDead: false, isClosed: false } as Process & { agent: Agent };
		const journal = seenJournal(inner, {
			steps: this.#steps,
			process,
			isSlow: this.#slow,
			append: (lease, batch) => this.#append(lease, batch, process),
			deleted: (key) => {
				if (key === "s") this.#becomes("idle");
			},
		});
		const work = { name: "work", description: "works", parameters: { type: "object", properties: {} } };
		const model = scriptedModel(({ messages }) => {
			const { type, text = "" } = messages.at(-1) as { type: string; text?: string };
			if (type !== "user") return "done";
			if (text.endsWith("work")) return { toolCalls: [{ name: "work" }] };
			if (text.endsWith("both")) return { toolCalls: [{ name: "remote" }, { name: "work" }] };
			return text.endsWith("ask") ? { toolCalls: [{ name: "remote" }] } : "done";
		});
		process.agent = new Agent({
			model,
			tools: [
				{ ...work, run: () => this.#steps.pass(process, {}, () => "worked") },
				{ ...work, name: "remote", kind: "remote" } as AnyTool,
			],
			host: journalHost(journal),
			ports: {
				timers: { after: (_, wake) => this.#steps.after(process, wake) },
			},
		});
		this.processes.push(process);
	}

	get living(): readonly Process[] {
		return this.processes.filter(({ isDead, isClosed }) => !isDead && !isClosed);
	}

	#append(lease: Lease, batch: Append, process: Process): ReturnType<Lease["append"]> {
		const seen = (result: Awaited<ReturnType<Lease["append"]>>): typeof result => {
			if (!result.ok || lease.key !== "s") return result;
			const kinds = batch.facts.map(({ kind }) => kind);
			this.trace.push(`${process.name} commits ${kinds.join(", ")}`);
			for (const kind of kinds) {
				if (kind === "run.ended") this.#becomes("idle");
				else if (kind === "waiting") this.#becomes("waiting");
				else if (kind === "run.parked") this.#becomes("parked");
				else if (kind === "run.started" || kind === "run.resumed") this.#becomes(process);
			}
			return result;
		};
		const appended = lease.append(batch);
		return after(appended, seen);
	}

	#becomes(state: "idle" | "waiting" | "parked" | Process): void {
		this.#state = state;
		for (const each of this.#watching) each.states.add(this.#seenBy(each.process));
	}

	#seenBy(process: Process): SeenState {
		if (typeof this.#state === "string") return this.#state;
		// A store without leases cannot show whether the other process is alive.
		if (this.#state.isDead || (this.#isBare && this.#state !== process)) return "left";
		return this.#state === process ? "running" : "blocked";
	}

	/** Follows a request through its queue. */
	ask(
		queue: SessionQueue,
		kind: string,
		carryOut: Parameters<SessionQueue["ask"]>[1],
		original: SessionQueue["ask"],
	): unknown {
		if (queue.isRetired) return original.call(queue, kind as "send", carryOut);
		const asked = this.#asking;
		this.#asking = undefined;
		const places = this.#places.get(queue) ?? [];
		this.#places.set(queue, places);
		const place: Place = { number: places.length, state: "waits" };
		places.push(place);
		const over = (): void => {
			place.state = "over";
			// A stop ends the run of another worker after leaving the queue.
			if (asked !== undefined && asked.kind !== "stop") this.#watching.delete(asked);
		};
		let result: unknown;
		try {
			result = original.call(queue, kind as "send", (actor, where) => {
				if (where === "in-line") this.#begins(places, place, kind);
				if (asked !== undefined) {
					asked.isCarriedOut = true;
					this.#watching.add(asked);
					asked.states.add(this.#seenBy(asked.process));
					if (actor.turn !== undefined) asked.states.add("running");
					// Turns that wait here or elsewhere come first.
					asked.states.add(actor.mailbox.length > 0 ? "blocked" : this.#seenBy(asked.process));
				}
				const carriedOut = (): void => {
					// Waiting inbox inputs may have been found.
					if (actor.mailbox.length > 0) asked?.states.add("blocked");
					over();
				};
				const carried = carryOut(actor, where);
				if (carried instanceof Promise) carried.then(carriedOut, carriedOut);
				else carriedOut();
				return carried;
			});
		} catch (error) {
			over();
			throw error;
		}
		if (result instanceof Promise) result.then(over, over);
		return result;
	}

	#begins(places: readonly Place[], place: Place, kind: string): void {
		if (places.some(({ state }) => state === "carried-out"))
			this.wrong(`${kind}: two requests are carried out at once`);
		const passed = places.find(({ number, state }) => number < place.number && state === "waits");
		if (passed !== undefined) this.wrong(`${kind} passes an earlier request of its queue`);
		place.state = "carried-out";
	}

	act(): void {
		const { living } = this;
		if (living.length === 0) return;
		const process = living[this.#draw(living.length)] as Process;
		const kinds: readonly Request[] = this.#draw(3) === 0 ? more : requests;
		const kind = kinds[this.#draw(kinds.length)] as Request;
		void this.request(process, kind);
	}

	request(process: Process, kind: Request): Promise<void> {
		const number = this.asked.length;
		const text = `${kind} ${number} ${["plain", "plain", "work", "ask", "both"][this.#draw(5)]}`;
		const asked: Asked = { number, kind, process, text, states: new Set(), at: ++this.#moments };
		this.asked.push(asked);
		this.trace.push(`${process.name}: ${text}`);
		const called = this.#call(asked).then(
			(outcome) => outcome ?? "null",
			(error: { readonly code?: string; readonly message?: string }) => error.code ?? String(error.message),
		);
		return called.then((outcome) => {
			asked.outcome = outcome;
			asked.over = ++this.#moments;
			this.#watching.delete(asked);
			this.trace.push(`${process.name}: ${text} → ${outcome} (${[...asked.states].join(", ")})`);
		});
	}

	async #call(asked: Asked): Promise<string | undefined> {
		const { process, kind, text } = asked;
		const session = process.agent.session("s");
		const run = (given: AgentRun | null): string | undefined => {
			void given?.result().then(({ error }) => {
				asked.failure = error?.code;
			});
			return given === null ? "null" : "accepted";
		};
		const pending = kind === "answer" ? await session.pending() : [];
		this.#asking = asked;
		try {
			switch (kind) {
				case "send":
				case "steer":
				case "start":
					return run((await this.#made(session[kind](text))) as AgentRun);
				case "edit":
					await this.#made(session.edit({ kind: "delete", messageId: "none" }));
					return "accepted";
				case "answer": {
					const answers = pending.map(({ toolCallId }) => ({ toolCallId, output: "came" }));
					return run((await this.#made(session.answer(answers))) as AgentRun);
				}
				case "stop":
					return (await this.#made(session.stop())) ? "accepted" : "false";
				case "interrupt":
					session.interrupt();
					return "accepted";
				case "resume":
					return run((await this.#made(session.resume())) as AgentRun | null);
				case "fork":
					await this.#made(session.fork(`fork-${asked.number}`));
					return "accepted";
				default:
					await this.#made(session[kind]());
					return "accepted";
			}
		} finally {
			this.#asking = undefined;
		}
	}

	/** Requests made within the call are known now. */
	#made<T>(call: Promise<T>): Promise<T> {
		this.#asking = undefined;
		return call;
	}

	crash(): void {
		const { living } = this;
		const process = living[this.#draw(Math.max(1, living.length))];
		if (process === undefined) return;
		process.isDead = true;
		this.trace.push(`${process.name} dies`);
		this.#steps.drop(process);
		this.#die(process.journal);
		this.#becomes(this.#state);
		if (this.living.length === 0) this.start();
	}

	async live(): Promise<void> {
		this.start();
		if (this.#draw(2) === 0) this.start();
		for (let left = 4 + this.#draw(14); left > 0 && this.problem === undefined; left--) {
			const kind = this.#draw(20);
			if (kind < 15) this.act();
			else if (kind < 17) await this.#steps.wait();
			else if (kind === 17 && this.#slow && this.#draw(2) === 0) this.crash();
			else await rest();
			// Bursts: some requests follow each other within one tick.
			if (this.#draw(3) === 0) continue;
			for (let steps = this.#draw(7); steps > 0; steps--) if (!(await this.#steps.step())) break;
		}
	}

	/** Finishes all open work. */
	async settle(): Promise<void> {
		for (let round = 0; round < 60 && this.problem === undefined; round++) {
			while (this.problem === undefined && (await this.#steps.step()));
			await this.#steps.wait();
			const process = this.living[0];
			if (process === undefined) return;
			const head = await process.journal.head("s");
			// A change of the history waits for the next run.
			const waiting = (await process.journal.inbox("s")).filter((input) => input.kind !== "edit");
			const isOpen = head?.openRunId !== undefined || waiting.length > 0;
			const unanswered = this.asked.find((each) => !each.process.isDead && each.outcome === undefined);
			if (!isOpen && unanswered === undefined && this.#steps.length === 0) return;
			if (round < 59) {
				if (round % 4 === 1 && this.#state === "waiting") void this.request(process, "answer");
				// A process on its own begins waiting work by itself.
				const mayBeLeft = this.processes.length > 1 || this.asked.some(({ kind }) => kind === "kill");
				if (round % 4 === 3 && mayBeLeft) for (const each of this.living) void this.request(each, "resume");
			} else this.wrong(`stuck: ${unanswered?.text ?? "a run or an input"} does not settle`);
		}
	}
}

/** Runs one schedule. `planted`: a deliberate fault, which is inserted into the queue and removed again. */
export async function runOrdering(
	seed: number,
	host: OrderingHost,
	planted?: () => () => void,
): Promise<OrderingResult> {
	const takeOut = planted?.();
	const world = new World(seed, host);
	const original = SessionQueue.prototype.ask;
	SessionQueue.prototype.ask = function ask(kind, carryOut) {
		return world.ask(this, kind, carryOut, original) as never;
	};
	try {
		await world.live();
		await world.settle();
		const reader = world.living[0]?.journal;
		const entries = (await reader?.read("s")) ?? [];
		const texts = entries.flatMap(({ fact }) =>
			fact.kind === "input" ? [(fact.message as { readonly text?: string }).text ?? ""] : [],
		);
		const problem = world.problem ?? problemOf(world, texts);
		if (problem !== undefined) world.wrong(problem);
	} finally {
		SessionQueue.prototype.ask = original;
		takeOut?.();
		for (const process of world.processes) process.isDead = true;
	}
	const { problem, trace } = world;
	return problem === undefined ? { seed, trace } : { seed, problem, trace };
}

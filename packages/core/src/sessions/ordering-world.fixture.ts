// Random schedules of requests to one session, in two processes over one store, and what the ordering table predicts of them:
// that requests are carried out in call order, one at a time, what each comes to, and in which order inputs are taken in.
import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import type { Append, Journal, Lease } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import type { AgentRun } from "./agent-run.ts";
import { outcomesOf, type SeenState } from "./ordering-table.fixture.ts";
import { SessionQueue } from "./session-queue.ts";

/** Where the session is: a store in memory that answers at once, one that takes its time, or a bare session store. */
export type OrderingHost = "at-once" | "slow" | "bare";

export interface OrderingResult {
	readonly seed: number;
	readonly problem?: string;
	readonly trace: readonly string[];
}

const requests = ["send", "send", "send", "steer", "steer", "start", "edit", "answer", "stop"] as const;
const more = ["interrupt", "resume", "fork", "kill", "delete", "send", "steer"] as const;
type Request = (typeof requests)[number] | (typeof more)[number];

/** Errors that any request may meet: of stores without leases, of answers that come too late, and of none at all. */
const anywhere = new Set(["session_conflict", "lease_lost"]);
const lateAnswers = [
	"invalid_input",
	"unknown_tool_call_id",
	"tool_call_settled",
	"duplicate_tool_result",
	"tool_result_conflict",
];

interface Process {
	readonly name: string;
	readonly agent: Agent;
	readonly journal: Journal;
	isDead: boolean;
	isClosed: boolean;
}

interface Asked {
	readonly number: number;
	readonly kind: Request;
	readonly process: Process;
	readonly text: string;
	/** States that the session was in while it was carried out. */
	states: Set<SeenState>;
	isCarriedOut?: true;
	outcome?: string;
	/** Why its run did not end as it should. */
	failure?: string | undefined;
	/** Position among all that happened, when it was asked and when it was answered. */
	readonly at: number;
	over?: number;
}

/** A request in the line of a queue. */
interface Place {
	readonly number: number;
	state: "waits" | "carried-out" | "over";
}

/** Something that will happen; those of one lane in order. */
interface Step {
	readonly process: Process;
	readonly lane: object;
	run(): void;
}

/** Draws of a seed. */
function drawsOf(seed: number): (below: number) => number {
	let state = seed | 0;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

const rest = (): Promise<void> =>
	new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));

class World {
	readonly trace: string[] = [];
	readonly processes: Process[] = [];
	readonly asked: Asked[] = [];
	problem: string | undefined;
	readonly #draw: (below: number) => number;
	readonly #slow: boolean;
	readonly #isBare: boolean;
	#steps: Step[] = [];
	/** In some schedules inputs are on their way into the inbox for long. */
	readonly #submitsLate: boolean;
	#timers: { readonly process: Process; wake(): void }[] = [];
	#moments = 0;
	#state: "idle" | "waiting" | "parked" | Process = "idle";
	/** Requests that are being carried out. */
	readonly #watching = new Set<Asked>();
	readonly #places = new WeakMap<SessionQueue, Place[]>();
	#asking: Asked | undefined;
	readonly #newWorker: (name: string) => Journal;
	readonly #die: (journal: Journal) => void;

	constructor(seed: number, host: OrderingHost) {
		this.#draw = drawsOf(seed);
		this.#slow = host !== "at-once";
		this.#submitsLate = this.#draw(3) === 0;
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
		const journal = this.#journal(inner, process);
		const work = { name: "work", description: "works", parameters: { type: "object", properties: {} } };
		const model = scriptedModel(({ messages }) => {
			const { type, text = "" } = messages.at(-1) as { type: string; text?: string };
			if (type !== "user") return "done";
			if (text.endsWith("work")) return { toolCalls: [{ name: "work" }] };
			return text.endsWith("ask") ? { toolCalls: [{ name: "remote" }] } : "done";
		});
		process.agent = new Agent({
			model,
			tools: [
				{ ...work, run: () => this.#pass(process, {}, () => "worked") },
				{ ...work, name: "remote", kind: "remote" } as AnyTool,
			],
			host: journalHost(journal),
			ports: {
				timers: {
					after: (_, wake) => {
						const timer = { process, wake };
						this.#timers.push(timer);
						return () => {
							this.#timers = this.#timers.filter((each) => each !== timer);
						};
					},
				},
			},
		});
		this.processes.push(process);
	}

	get living(): readonly Process[] {
		return this.processes.filter(({ isDead, isClosed }) => !isDead && !isClosed);
	}

	/** Has something happen when the seed says so. */
	#pass<T>(process: Process, lane: object, work: () => T | Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const answer = (settle: () => void): void => {
				if (!process.isDead) settle();
			};
			const run = (): void => {
				Promise.resolve()
					.then(work)
					.then(
						(value) => answer(() => resolve(value)),
						(error) => answer(() => reject(error)),
					);
			};
			if (!process.isDead) this.#steps.push({ process, lane, run });
		});
	}

	#journal(inner: Journal, process: Process): Journal {
		const pass = <T>(work: () => T | Promise<T>, lane: object = {}): T | Promise<T> =>
			this.#slow ? this.#pass(process, lane, work) : work();
		const leaseOf = (lease: Lease): Lease => {
			const lane = {};
			return {
				key: lease.key,
				seq: lease.seq,
				...(lease.openRunId === undefined ? {} : { openRunId: lease.openRunId }),
				get epoch() {
					return lease.epoch;
				},
				get isLost() {
					return lease.isLost;
				},
				whenLost: (notify) => lease.whenLost(notify),
				append: (batch) => pass(() => this.#append(lease, batch, process), lane),
				inbox: () => pass(() => lease.inbox(), lane),
				release: () => pass(() => lease.release(), lane),
			};
		};
		const acquire: Journal["acquire"] = (key, options) => {
			const acquired = pass(() => inner.acquire(key, options));
			const given = (result: Awaited<typeof acquired>): Awaited<typeof acquired> =>
				result.ok ? { ...result, lease: leaseOf(result.lease) } : result;
			return acquired instanceof Promise ? acquired.then(given) : given(acquired);
		};
		return {
			name: "ordering",
			workerId: inner.workerId,
			acquire,
			submit: (key, input) => pass(() => inner.submit(key, input), { isSubmit: true }),
			inbox: (key) => pass(() => inner.inbox(key)),
			read: (key, options) => pass(() => inner.read(key, options)),
			head: (key) => pass(() => inner.head(key)),
			list: (options) => pass(() => inner.list(options)),
			isAlive: (workerId) => inner.isAlive(workerId),
			watch: (key, changed) => inner.watch(key, () => (process.isDead ? undefined : changed())),
			fork: (from, to, until) => inner.fork(from, to, until),
			delete: (key, seen) =>
				pass(async () => {
					await inner.delete(key, seen);
					if (key === "s") this.#becomes("idle");
				}),
			close() {},
		};
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
		return appended instanceof Promise ? appended.then(seen) : seen(appended);
	}

	#becomes(state: "idle" | "waiting" | "parked" | Process): void {
		this.#state = state;
		for (const each of this.#watching) each.states.add(this.#seenBy(each.process));
	}

	#seenBy(process: Process): SeenState {
		if (typeof this.#state === "string") return this.#state;
		// A store without leases does not tell whether the other process lives.
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
			// A stop ends the run of another worker when it has left the queue.
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
				const carried = carryOut(actor, where);
				if (carried instanceof Promise) carried.then(over, over);
				else over();
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
		const text = `${kind} ${number} ${["plain", "plain", "work", "ask"][this.#draw(4)]}`;
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

	/** What was asked within the call is known now. */
	#made<T>(call: Promise<T>): Promise<T> {
		this.#asking = undefined;
		return call;
	}

	/** One of the things that may happen. False without one. */
	async step(): Promise<boolean> {
		const lanes = new Set<object>();
		const possible = this.#steps.filter(({ lane }) => !lanes.has(lane) && lanes.add(lane));
		const others = possible.filter(({ lane }) => !("isSubmit" in lane));
		const some = this.#submitsLate && others.length > 0 && this.#draw(8) > 0 ? others : possible;
		const step = some[this.#draw(Math.max(1, some.length))];
		if (step === undefined) return false;
		this.#steps.splice(this.#steps.indexOf(step), 1);
		step.run();
		await rest();
		return true;
	}

	/** Time passes for all. */
	async pass(): Promise<void> {
		const timers = this.#timers;
		this.#timers = [];
		for (const { process, wake } of timers) if (!process.isDead) wake();
		await rest();
	}

	crash(): void {
		const { living } = this;
		const process = living[this.#draw(Math.max(1, living.length))];
		if (process === undefined) return;
		process.isDead = true;
		this.trace.push(`${process.name} dies`);
		this.#steps = this.#steps.filter((step) => step.process !== process);
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
			else if (kind < 17) await this.pass();
			else if (kind === 17 && this.#slow && this.#draw(2) === 0) this.crash();
			else await rest();
			// Bursts: some requests follow each other within one tick.
			if (this.#draw(3) === 0) continue;
			for (let steps = this.#draw(7); steps > 0; steps--) if (!(await this.step())) break;
		}
	}

	/** All that is open is finished. */
	async settle(): Promise<void> {
		for (let round = 0; round < 60 && this.problem === undefined; round++) {
			while (this.problem === undefined && (await this.step()));
			await this.pass();
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
				// Alone, a process begins what waits by itself.
				const mayBeLeft = this.processes.length > 1 || this.asked.some(({ kind }) => kind === "kill");
				if (round % 4 === 3 && mayBeLeft) for (const each of this.living) void this.request(each, "resume");
			} else this.wrong(`stuck: ${unanswered?.text ?? "a run or an input"} does not settle`);
		}
	}

	check(texts: readonly string[]): void {
		for (const each of this.asked) if (each.outcome !== undefined) this.#checkOutcome(each);
		const order = new Map(texts.map((text, at) => [text, at] as const));
		if (order.size < texts.length) this.wrong("an input was taken in twice");
		const inputs = this.asked.filter(({ text }) => order.has(text));
		for (const first of inputs) {
			for (const second of inputs) {
				if (first.process !== second.process || first.number >= second.number) continue;
				// A steer joins the run under way, before turns that wait, and what was steered without a run is such a turn.
				const isJoined = first.kind === "steer" && [...first.states].every((state) => state === "running");
				const mayPass = second.kind === "steer" && !isJoined;
				if (!mayPass && (order.get(first.text) ?? 0) > (order.get(second.text) ?? 0))
					this.wrong(`"${second.text}" passes "${first.text}"`);
			}
		}
		const ends = this.asked.filter(
			({ kind, over }) => (kind === "kill" || kind === "delete") && over !== undefined,
		);
		for (const each of this.asked) {
			if (each.outcome !== "accepted" || !["send", "steer", "start"].includes(each.kind)) continue;
			const mayHaveEnded = this.asked.some(
				({ kind, over = Number.POSITIVE_INFINITY }) =>
					(kind === "kill" || kind === "delete") && over > each.at,
			);
			// Without leases another writer ends a run.
			const isRefused = each.failure === "session_conflict";
			if (!order.has(each.text) && !mayHaveEnded && !isRefused)
				this.wrong(`"${each.text}" was accepted and is lost`);
			// In the life that follows a deletion there is nothing of what was asked before it in the same process.
			const isEnded = ends.some(
				(end) => end.process === each.process && end.at > each.at && end.kind === "delete",
			);
			if (isEnded && order.has(each.text))
				this.wrong(`"${each.text}" outlives a deletion asked for after it`);
		}
	}

	#checkOutcome({ kind, process, states, outcome = "", at, over = 0, isCarriedOut, text }: Asked): void {
		const isEndedBy = (ends: readonly string[]): boolean =>
			this.asked.some(
				(end) => ends.includes(end.kind) && end.process === process && end.at > at && end.at < over,
			);
		if (outcome === "session_killed") {
			if (!isEndedBy(["kill", "delete"]))
				this.wrong(`"${text}" is refused with session_killed without a kill`);
			return;
		}
		if (anywhere.has(outcome) || kind === "interrupt" || kind === "kill" || kind === "delete") return;
		if (isCarriedOut !== true || states.size === 0) {
			this.wrong(`"${text}" came to ${outcome} and was not carried out`);
			return;
		}
		const allowed = new Set([...states].flatMap((state) => [...outcomesOf(kind, state)]));
		if (kind === "answer") for (const code of lateAnswers) allowed.add(code);
		if (kind === "answer" && allowed.has("accepted"))
			allowed.add("session_busy").add("no_pending_tool_calls");
		if (kind === "resume" && allowed.has("null")) allowed.add("accepted").add("session_held");
		if (kind === "fork") for (const code of ["fork_unsettled", "session_exists"]) allowed.add(code);
		// Another process may have accepted a turn before.
		if (this.processes.length > 1 && kind === "start") allowed.add("session_busy");
		if (!allowed.has(outcome))
			this.wrong(`"${text}" came to ${outcome} while ${[...states].join(", ")}: ${[...allowed].join(", ")}`);
	}
}

/** Runs one schedule. `planted`: a fault on purpose, which is put into the queue and taken out again. */
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
		if (world.problem === undefined) world.check(texts);
	} finally {
		SessionQueue.prototype.ask = original;
		takeOut?.();
		for (const process of world.processes) process.isDead = true;
	}
	const { problem, trace } = world;
	return problem === undefined ? { seed, trace } : { seed, problem, trace };
}

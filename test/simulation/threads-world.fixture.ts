// A world of threads: processes over one store that are killed between any two writes, while people queue messages, tools write
// values and files, effects fall due and sub-agents work. What is left is held against what was begun, and against the same
// thread left alone.
import { threads as makeThreads, type Threads } from "@holdfast/threads";
import { memoryHost } from "holdfast";
import { type Entry, type MemoryJournal, systemPorts } from "holdfast/host";
import { Draws, Gates, type Owner } from "./gates.fixture.ts";
import {
	type CheckedWorld,
	checkThreads,
	type Deeds,
	differsFrom,
	type Saying,
	threadOutcome,
} from "./threads-checks.fixture.ts";
import { gatedHost, type SharedStore, type ThreadsFault } from "./threads-host.fixture.ts";
import { type Plan, type PlannedCall, type ProjectWorld, projectIn } from "./threads-project.fixture.ts";

/** What happens before each step. */
const chances = ["a kill", "a saying", ...Array<"nothing">(24).fill("nothing")] as const;
const capabilities = { backgroundSubagents: "in-process" } as const;

interface Process extends Owner {
	readonly threads: Threads;
	readonly journal: MemoryJournal;
}

/** How a world is. */
interface WorldOptions {
	readonly planted?: ThreadsFault;
	/** Whether nobody dies and nobody says more than what begins. */
	readonly isAlone?: boolean;
}

export class ThreadsWorld implements CheckedWorld {
	readonly seed: number;
	readonly options: WorldOptions;
	readonly gates: Gates;
	readonly store: SharedStore;
	readonly plan: Plan;
	readonly sayings: Saying[] = [];
	readonly deeds: Deeds = { note: new Map(), save: new Map(), effect: new Map() };
	readonly threadIds: readonly string[];
	/** How many processes died. */
	kills = 0;
	problem: string | undefined;
	readonly #draws: Draws;
	readonly #observer: MemoryJournal;
	readonly #processes: Process[] = [];
	#seen: Threads | undefined;

	constructor(seed: number, options: WorldOptions = {}) {
		this.seed = seed;
		this.options = options;
		this.plan = planOf(new Draws(seed));
		this.#draws = new Draws(seed ^ 0x5bd1e995);
		this.gates = new Gates(this.#draws);
		const base = memoryHost({ workerId: "observer", clock: { now: () => this.#now } });
		this.#observer = base.journal as MemoryJournal;
		this.store = { base, gates: this.gates, draws: this.#draws, planted: options.planted };
		this.threadIds = Array.from({ length: 1 + (seed % 2) }, (_, at) => `t${at + 1}`);
	}

	get #now(): number {
		return 1_700_000_000_000 + this.gates.now;
	}

	wrong(problem: string): void {
		this.problem ??= problem;
	}

	/** The entries of a session, as committed. */
	entries(key: string): readonly Entry[] {
		return this.#observer.head(key) === undefined ? [] : this.#observer.read(key);
	}

	/** The threads as somebody sees them who only looks on. */
	get seen(): Threads {
		const nothing = async (): Promise<void> => {};
		const project = projectIn({
			plan: this.plan,
			delayOf: () => 0,
			pass: nothing,
			begins() {},
			did() {},
			wrong() {},
		});
		this.#seen ??= makeThreads({ project, host: { ...this.store.base, capabilities, close: nothing } });
		return this.#seen;
	}

	/** Runs the threads through kills to their end, and checks what is left. */
	async run(): Promise<void> {
		const { isAlone = false } = this.options;
		const first = this.#start();
		for (const threadId of this.threadIds) this.#begin(first, threadId);
		for (let left = 60 + this.#draws.below(240); left > 0 && this.problem === undefined; left--) {
			const happens = isAlone ? "nothing" : this.#draws.pick(chances);
			if (happens === "a kill") await this.#kill();
			else if (happens === "a saying") this.#say(this.#draws.pick(this.threadIds));
			else if (!(await this.gates.step()) && !(await this.gates.wait())) break;
		}
		await this.#comeToRest();
		if (this.problem === undefined) await this.#check();
	}

	/** Says something; whether it was accepted is known when the answer comes. */
	#say(threadId: string, process = this.#draws.pick(this.#living)): void {
		if (process === undefined) return;
		// Workers that take long with their turns may be overtaken by others.
		const before = this.sayings.filter(
			(each) => each.by === process.name && each.threadId === threadId && each.accepted,
		);
		const text = `said ${this.sayings.length + 1}`;
		const after = before.map((each) => each.text);
		const saying: Saying = { threadId, by: process.name, text, after, accepted: false };
		this.sayings.push(saying);
		this.gates.trace.push(`${process.name} gets "${text}" for ${threadId}`);
		const accepted = async (): Promise<void> => {
			await process.threads.queueMessage(threadId, { content: saying.text });
			saying.accepted = true;
			this.gates.trace.push(`${process.name}: "${text}" is accepted`);
		};
		accepted().catch(() => {}); // the thread is not there yet, or not any more
	}

	#begin(process: Process, id: string): void {
		const begin = async (): Promise<void> => {
			await process.threads.createThread({ agentId: "main", id });
			this.#say(id, process);
		};
		begin().catch((error: unknown) => {
			if ((error as { code?: string }).code !== "thread_exists") this.wrong(`${id} was not made: ${error}`);
		});
	}

	get #living(): Process[] {
		return this.#processes.filter(({ dead }) => !dead);
	}

	async #kill(): Promise<void> {
		const living = this.#living;
		if (living.length === 0) return;
		const process = this.#draws.pick(living);
		this.gates.die(process);
		process.journal.die();
		this.kills++;
		await this.gates.rest();
		const next = living.length > 1 && this.#draws.chance(50) ? undefined : this.#start();
		this.#recover(next ?? (this.#living[0] as Process));
		if (this.#draws.chance(30) && this.#living.length < 3) this.#recover(this.#start());
	}

	#recover(process: Process): void {
		const recover = async (): Promise<void> => {
			for await (const run of process.threads.recover()) void run.result().catch(() => {});
			// A recovery carries out what is due; a process that works carries out what becomes due, too.
			for await (const run of process.threads.work({ until: "done" })) void run.result().catch(() => {});
		};
		recover().catch(() => {});
	}

	/** All kills end; threads that nobody could make are made, and each hears something. */
	async #comeToRest(): Promise<void> {
		this.gates.trace.push("all kills end");
		let isSaid = false;
		for (let round = 0; round < 60 && this.problem === undefined; round++) {
			let steps = 0;
			while ((await this.gates.step()) || (await this.gates.wait())) {
				if (this.problem !== undefined) return;
				if (++steps > 20_000) throw new Error("the world does not come to rest");
			}
			const process = this.#living[0] ?? this.#start();
			if (!isSaid) {
				isSaid = true;
				for (const id of this.threadIds) {
					if ((await this.store.base.records.get({ shelf: "threads", name: id })).revision === 0)
						this.#begin(process, id);
					else this.#say(id, process);
				}
			} else if (round > 2 && (await this.#whatIsOpen()) === undefined) return;
			for (const each of this.#living) this.#recover(each);
			// Three processes died in it: somebody has to say that it is to continue.
			for (const { key, parked } of this.#observer.list()) {
				if (parked === true) await this.#free(() => process.threads.session(key).release());
			}
			await this.gates.rest();
		}
		if (this.problem === undefined) this.wrong(`stuck: ${await this.#whatIsOpen()}`);
	}

	/** Asks for something, and lets the world run until the answer has come. */
	async #free(ask: () => Promise<unknown>): Promise<void> {
		let isOver = false;
		const over = (): void => {
			isOver = true;
		};
		void ask().then(over, over);
		while (!isOver && ((await this.gates.step()) || (await this.gates.wait())));
	}

	async #whatIsOpen(): Promise<string | undefined> {
		for (const { key, openRunId, waiting } of this.#observer.list()) {
			if (openRunId !== undefined) return `a run of ${key} is open`;
			if (waiting > 0) return `inputs of ${key} wait`;
		}
		return (await this.store.base.timers.nextDue()) === undefined ? undefined : "an effect is pending";
	}

	#start(): Process {
		const name = `p${this.#processes.length + 1}`;
		const owner: Owner = { name, dead: false };
		const journal = this.#observer.worker(name);
		const { gates } = this;
		const world: ProjectWorld = {
			plan: this.plan,
			delayOf: (subject) => [0, 50, 2_000][subject.length % 3] ?? 0,
			pass: (label) => gates.pass(owner, label, () => {}),
			begins: (tool, subject, threadId) => this.#toolBegins(tool, subject, threadId),
			did: (what, subject) => this.deeds[what].set(subject, (this.deeds[what].get(subject) ?? 0) + 1),
			wrong: (problem) => this.wrong(problem),
		};
		const threads = makeThreads({
			project: projectIn(world),
			host: gatedHost(this.store, journal, owner),
			ports: {
				...systemPorts,
				clock: { now: () => this.#now, monotonic: () => gates.now },
				ids: { uuid: () => this.#draws.uuid() },
				timers: { after: (milliseconds, wake) => gates.after(owner, milliseconds, wake) },
			},
		});
		const process: Process = Object.assign(owner, { threads, journal });
		this.#processes.push(process);
		gates.trace.push(`${name} starts`);
		return process;
	}

	/** A tool works only when its start is on record. */
	#toolBegins(tool: string, subject: string, threadId: string): void {
		const entries = this.entries(threadId);
		const calls = entries.flatMap(({ fact }) =>
			fact.kind === "assistant" ? (fact.message.toolCalls ?? []) : [],
		);
		const call = calls.find(({ toolName, arguments: args }) => toolName === tool && args.subject === subject);
		const isStarted = entries.some(
			({ fact }) => fact.kind === "tool.started" && fact.callId === call?.toolCallId,
		);
		if (!isStarted) this.wrong(`${tool} works on ${subject}, and its start is not on record`);
	}

	async #check(): Promise<void> {
		this.problem = await checkThreads(this);
		if (this.problem !== undefined || this.options.isAlone === true) return;
		const alone = new ThreadsWorld(this.seed, { isAlone: true });
		await alone.run();
		if (alone.problem !== undefined) return this.wrong(`alone: ${alone.problem}`);
		for (const id of this.threadIds) {
			const problem = differsFrom(await threadOutcome(alone, id), await threadOutcome(this, id));
			if (problem !== undefined) return this.wrong(`${id}: ${problem}`);
		}
	}
}

/** What the agents of a world do. */
function planOf(draws: Draws): Plan {
	const own = ["note", "save", "later"] as const;
	const more = ["digger", "scout", "subagent_create", "digger", "scout"] as const;
	const main: PlannedCall[][] = [];
	let creates = false;
	for (let step = 0; step < 2 + draws.below(4); step++) {
		const count = 1 + draws.below(3);
		main.push(
			Array.from({ length: count }, (_, at): PlannedCall => {
				const subject = `main/${step}.${at}`;
				if (draws.chance(50)) return { name: draws.pick(own), subject };
				const name = creates && draws.chance(40) ? "subagent_message" : draws.pick(more);
				return { name, subject };
			}),
		);
		creates ||= main.at(-1)?.some(({ name }) => name === "subagent_create") === true;
	}
	if (draws.chance(40))
		main.push([{ name: "closer", subject: "the end" }], [{ name: draws.pick(own), subject: "closing" }]);
	const worker = Array.from({ length: draws.below(3) }, () =>
		Array.from({ length: 1 + draws.below(2) }, () => draws.pick(own)),
	);
	return { main, worker };
}

/** Runs one schedule; what did not hold, and what happened. */
export async function runThreadsWorld(
	seed: number,
	planted?: ThreadsFault,
): Promise<{
	readonly seed: number;
	readonly ok: boolean;
	readonly problem?: string;
	readonly trace: readonly string[];
}> {
	const world = new ThreadsWorld(seed, planted === undefined ? {} : { planted });
	try {
		await world.run();
	} catch (error) {
		world.wrong(error instanceof Error ? (error.stack ?? error.message) : String(error));
	}
	const { problem } = world;
	const { trace } = world.gates;
	return problem === undefined ? { seed, ok: true, trace } : { seed, ok: false, problem, trace };
}

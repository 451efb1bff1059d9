// A world of accountable agents: processes over one store, that are killed between plan, audit and act and everywhere else.
// Whatever a tool does is held against what is on record at that moment: no effect without its plan, its audit record and
// its start; no answer that is asked for twice.
import {
	type AuditRecord,
	RunnerAgent,
	type RunnerStep,
	type RunnerTool,
	readResult,
} from "@holdfast/runner";
import { type Host, memoryHost } from "holdfast";
import {
	type Append,
	type AppendResult,
	type Entry,
	journalHost,
	type Lease,
	type MaybePromise,
	type MemoryJournal,
	memoryJournal,
} from "holdfast/host";
import { isAudit, planOf, wrongAudit } from "./audited-append.fixture.ts";
import { Draws, Gates, gatedJournal, type Owner } from "./gates.fixture.ts";

/** A fault on purpose, that the checks must find. */
export type RunnerFault =
	| "acknowledged-before-commit"
	| "audit-not-committed"
	| "audit-apart"
	| "audit-not-sent"
	| "planned-again";

interface Process extends Owner {
	readonly agent: RunnerAgent;
	readonly journal: MemoryJournal;
}

/** What an agent of a world may do. */
interface Traits {
	readonly reflects: boolean;
	readonly remembers: "own" | "by-call";
	readonly policy: "none" | "at-once" | "in-time";
}

export class RunnerWorld {
	readonly gates: Gates;
	problem: string | undefined;
	readonly #draws: Draws;
	readonly #store: MemoryJournal;
	readonly #values: Host["values"];
	readonly #traits: Traits;
	readonly #planted: RunnerFault | undefined;
	readonly #processes: Process[] = [];
	readonly #sessions: string[];
	readonly #begunBy = new Map<string, Process>();
	readonly #sink: AuditRecord[] = [];
	/** Effects by their subject: how often, and under which key. */
	readonly #effects = new Map<string, { times: number; readonly key: string; readonly toolId: string }>();
	readonly #memory: { readonly key: string; readonly id: string | undefined }[] = [];
	#subjects = 0;

	constructor(seed: number, planted?: RunnerFault) {
		this.#draws = new Draws(seed);
		this.gates = new Gates(this.#draws);
		this.#store = memoryJournal({ workerId: "observer", clock: { now: () => this.gates.now } });
		this.#values = memoryHost().values;
		this.#planted = planted;
		this.#traits = {
			reflects: this.#draws.chance(40),
			remembers: this.#draws.chance(50) ? "own" : "by-call",
			policy: this.#draws.pick(["none", "at-once", "in-time"]),
		};
		this.#sessions = Array.from({ length: 1 + this.#draws.below(2) }, (_, at) => `s${at + 1}`);
	}

	/** Runs the sessions through kills to their end, and checks what is left. */
	async run(): Promise<void> {
		for (const session of this.#sessions) this.#begin(session, this.#start());
		for (let left = 40 + this.#draws.below(160); left > 0 && this.problem === undefined; left--) {
			if (this.#draws.chance(6)) await this.#kill();
			else if (!(await this.gates.step()) && !(await this.gates.wait())) break;
		}
		await this.#comeToRest();
		if (this.problem === undefined) await this.#checkEnds();
	}

	#wrong(problem: string): void {
		this.problem ??= problem;
	}

	#begin(session: string, process: Process): void {
		this.#begunBy.set(session, process);
		process.agent.runOnce({ sessionId: session, task: `the task of ${session}`, seed: 1 }).catch(() => {});
	}

	async #kill(): Promise<void> {
		const living = this.#processes.filter(({ dead }) => !dead);
		if (living.length === 0) return;
		const process = this.#draws.pick(living);
		this.gates.die(process);
		process.journal.die();
		await this.gates.rest();
		this.#recover(this.#start());
	}

	/** Finds what others left, and what died with those who were to begin it. */
	#recover(process: Process): void {
		for (const session of this.#sessions) {
			const before = this.#begunBy.get(session);
			const isLost = before?.dead === true && !this.gates.hasSent(before);
			if (isLost && this.#store.head(session) === undefined) this.#begin(session, process);
			if (this.#facts(session).at(-1)?.fact.kind === "run.parked") this.#release(session, process);
		}
		const work = async (): Promise<void> => {
			for await (const run of process.agent.engine.recover()) void run.result().catch(() => {});
		};
		work().catch(() => {});
	}

	/** Somebody looks after a run that was killed too often at one step. */
	#release(session: string, process: Process): void {
		const release = async (): Promise<unknown> =>
			(await process.agent.engine.session(session).release())?.result();
		release().catch(() => {});
	}

	async #comeToRest(): Promise<void> {
		this.gates.trace.push("all kills end");
		for (let round = 0; round < 40 && this.problem === undefined; round++) {
			let steps = 0;
			while ((await this.gates.step()) || (await this.gates.wait()))
				if (++steps > 5_000) throw new Error("the world does not come to rest");
			const ended = this.#sessions.filter((key) =>
				this.#facts(key).some(({ fact }) => fact.kind === "run.ended"),
			);
			if (ended.length === this.#sessions.length) return;
			this.#recover(this.#processes.find(({ dead }) => !dead) ?? this.#start());
			await this.gates.rest();
		}
		this.#wrong("a run is stuck");
	}

	#facts(session: string): readonly Entry[] {
		return this.#store.head(session) === undefined ? [] : this.#store.read(session);
	}

	/** Commits a batch, or what a planted fault makes of it. */
	#commit(lease: Lease, batch: Append): MaybePromise<AppendResult> {
		const audit = batch.facts.filter(isAudit);
		const rest = batch.facts.filter((fact) => !isAudit(fact));
		if (audit.length > 0 && this.#planted === "audit-not-committed")
			return this.#commitAll(lease, { ...batch, facts: rest });
		if (audit.length === 0 || this.#planted !== "audit-apart") return this.#commitAll(lease, batch);
		this.#commitAll(lease, { at: batch.at, runId: batch.runId, facts: audit });
		return this.#commitAll(lease, { ...batch, facts: rest });
	}

	/** Looks at what the store has come to have with one append. */
	#commitAll(lease: Lease, batch: Append): MaybePromise<AppendResult> {
		const appended = lease.append(batch) as AppendResult;
		if (appended.ok) {
			const entries = this.#store.read(lease.key, { after: appended.seq - batch.facts.length });
			const problem = wrongAudit(entries.map(({ fact }) => fact));
			if (problem !== undefined) this.#wrong(`${lease.key}: ${problem}`);
		}
		return appended;
	}

	#start(): Process {
		const name = `p${this.#processes.length + 1}`;
		const owner: Owner = { name, dead: false };
		const journal = this.#store.worker(name);
		const pass = <T>(label: string, work: () => T): Promise<T> => this.gates.pass(owner, label, work);
		const host: Host = {
			...journalHost(
				gatedJournal(journal, this.gates, owner, {
					early: this.#planted === "acknowledged-before-commit",
					commit: (lease, batch) => this.#commit(lease, batch),
				}),
			),
			values: this.#values,
		};
		const { reflects, remembers, policy } = this.#traits;
		const tool = (id: string, idempotent: boolean): RunnerTool => ({
			id,
			idempotent,
			run: async (input, { sessionId, idempotencyKey, memory }) => {
				const { subject } = input as { subject: string };
				this.#effectBegins(id, subject, sessionId, idempotencyKey, input);
				await pass(`${id} works on ${subject}`, () => this.#effect(id, subject, idempotencyKey));
				if (id === "note") await memory.append("notes", subject);
				return subject;
			},
		});
		const agent = new RunnerAgent({
			id: "clerk",
			taskPrompt: "The agent's own task.",
			modelProviders: [],
			maxSteps: 12,
			host,
			ports: {
				clock: { now: () => 1_700_000_000_000 + this.gates.now, monotonic: () => this.gates.now },
				ids: { uuid: () => this.#draws.uuid() },
				timers: { after: (milliseconds, wake) => this.gates.after(owner, milliseconds, wake) },
			},
			tools: [
				tool("post", true),
				tool("record", false),
				tool("note", true),
				{ id: "forbidden", run: () => this.#wrong("a tool ran that is denied") },
			],
			...(remembers === "own"
				? {}
				: {
						memoryClient: {
							append: (key, _entry, { id } = {}) =>
								pass(`remembers ${id}`, () => {
									if (!this.#memory.some((each) => each.key === key && each.id === id))
										this.#memory.push({ key, id });
								}),
							read: async () => [],
						},
					}),
			planner: {
				plan: async ({ step, sessionId }) => {
					this.#planBegins(sessionId, step);
					return pass(`plans step ${step} of ${sessionId}`, () => this.#plan(step));
				},
			},
			...(reflects
				? {
						reflector: {
							reflect: (_, { toolId }) => pass(`reflects on ${toolId}`, () => ({ note: toolId ?? "" })),
						},
					}
				: {}),
			safety: {
				toolDenylist: ["forbidden"],
				safetyBudget: 10,
				writeFilters: [{ match: /^subject .*[37]$/, action: "redact" }],
				sanitizers: [
					(_, input) => {
						const { raw: __, ...rest } = input as { raw?: true };
						return rest;
					},
				],
				...(policy === "none"
					? {}
					: {
							policyEngine: {
								check: ({ point }) =>
									policy === "at-once"
										? { action: "allow" }
										: pass(`policy is asked at ${point}`, () => ({ action: "allow" }) as const),
							},
						}),
				auditSink: {
					write: async (record) =>
						pass(`audit of ${record.rule}`, () => {
							if (this.#planted !== "audit-not-sent") this.#sink.push(record);
						}),
				},
			},
		});
		const process: Process = Object.assign(owner, { agent, journal });
		this.#processes.push(process);
		this.gates.trace.push(`${name} starts`);
		return process;
	}

	#plan(step: number): RunnerStep {
		if (step >= 3 && (step > 8 || this.#draws.chance(25))) return { type: "finish", message: "Done." };
		if (this.#draws.chance(12)) return { type: "message", message: "On it." };
		if (this.#draws.chance(10)) return { type: "tool", toolId: "forbidden", input: {} };
		const subject = `subject ${++this.#subjects}`;
		const input = this.#draws.chance(70) ? { subject, raw: true } : { subject };
		return { type: "tool", toolId: this.#draws.pick(["post", "record", "note"]), input };
	}

	/** Asked only while no answer is on record. */
	#planBegins(session: string, step: number): void {
		const planned = this.#plans(session).length;
		const isAgain = this.#planted === "planned-again" && step > 3;
		if (planned >= step || isAgain) this.#wrong(`step ${step} of ${session} is planned, and asked for again`);
	}

	#plans(session: string): readonly Entry[] {
		return this.#facts(session).filter(({ fact }) => planOf(fact) !== undefined);
	}

	/** A tool was started: all that allows it is on record by then. */
	#effectBegins(toolId: string, subject: string, session: string, key: string, input: unknown): void {
		const missing = this.#missing(toolId, subject, session, key);
		if (missing !== undefined) this.#wrong(`${toolId} works on ${subject}, and ${missing}`);
		if ("raw" in (input as object)) this.#wrong(`${toolId} was given what policy takes away`);
	}

	/** What is not on record that an effect needs. */
	#missing(toolId: string, subject: string, session: string, key: string): string | undefined {
		const entries = this.#facts(session);
		const at = entries.findIndex(({ fact }) => {
			const { toolId: planned, input } = planOf(fact)?.step ?? {};
			return planned === toolId && JSON.stringify(input) === JSON.stringify({ subject });
		});
		const plan = planOf(entries[at]?.fact);
		if (plan === undefined) return "no plan of it is on record";
		if (plan.verdict !== undefined) {
			const note = entries[at - 1]?.fact;
			const record = note !== undefined && isAudit(note) ? (note.value as AuditRecord) : undefined;
			if (record?.action !== "modified" || record.rule !== plan.verdict.rule)
				return "what policy changed has no audit record";
			if (!this.#sink.some(({ id }) => id === record.id)) return "the sink has not its audit record";
		}
		const isStarted = entries.some(
			({ fact }) => fact.kind === "tool.started" && fact.name === toolId && fact.idempotencyKey === key,
		);
		return isStarted ? undefined : "its start is not on record";
	}

	#effect(toolId: string, subject: string, key: string): void {
		const known = this.#effects.get(subject) ?? { times: 0, key, toolId };
		if (known.key !== key) this.#wrong(`${subject} was worked on under two keys`);
		if (known.times > 0 && toolId === "record") this.#wrong(`${subject} was recorded twice`);
		known.times++;
		this.#effects.set(subject, known);
	}

	async #checkEnds(): Promise<void> {
		for (const session of this.#sessions) {
			const problem = await this.#wrongEnd(session);
			if (problem !== undefined) this.#wrong(`${session}: ${problem}`);
		}
	}

	async #wrongEnd(session: string): Promise<string | undefined> {
		const result = await readResult({ ...journalHost(this.#store), values: this.#values }, session);
		const facts = this.#facts(session).map(({ fact }) => fact);
		const ended = facts.filter(({ kind }) => kind === "run.ended").length;
		if (ended !== 1 || result?.success !== true)
			return `it ended ${ended} times, with ${JSON.stringify(result?.error)}`;
		const actions = result.actions ?? [];
		if (this.#plans(session).length !== result.steps || actions.length !== result.steps)
			return `it has ${result.steps} steps and ${actions.length} actions`;
		const carriedOut = actions.filter(({ type, error }) => type === "tool" && error?.code !== "TOOL_DENIED");
		const reflections = facts.filter((fact) => fact.kind === "decision" && fact.topic === "runner.reflect");
		if (reflections.length !== carriedOut.length)
			return `it has ${carriedOut.length} results and ${reflections.length} reflections`;
		for (const { ok, output, error } of carriedOut) {
			if (ok && !this.#effects.has(String(output))) return `${output} is a result, and nobody worked on it`;
			if (!ok && error?.code !== "TOOL_OUTCOME_UNKNOWN") return `an action failed with ${error?.code}`;
		}
		const kept = carriedOut.filter(({ ok }) => ok).length;
		const written = (result.memoryDeltas ?? []).filter(({ key }) => key === session).length;
		if (written !== kept) return `it has ${kept} outputs, and ${written} changed its memory`;
		const inMemory = this.#memory.filter(({ key }) => key === session).length;
		if (this.#traits.remembers === "by-call" && inMemory !== kept)
			return `it has ${kept} outputs, and ${inMemory} are in memory`;
		return undefined;
	}
}

/** One schedule: the first thing that did not hold, and what happened. */
export async function runRunnerWorld(
	seed: number,
	planted?: RunnerFault,
): Promise<{ readonly problem: string | undefined; readonly trace: readonly string[] }> {
	const world = new RunnerWorld(seed, planted);
	try {
		await world.run();
	} catch (error) {
		return { problem: String(error), trace: world.gates.trace };
	}
	return { problem: world.problem, trace: world.gates.trace };
}

/** Runs one schedule after the other; the first that did not hold, with its seed and what happened. */
export async function firstWrong(
	from: number,
	count: number,
	planted?: RunnerFault,
): Promise<string | undefined> {
	for (let seed = from; seed < from + count; seed++) {
		const { problem, trace } = await runRunnerWorld(seed, planted);
		if (problem !== undefined) return [`Seed ${seed}: ${problem}`, ...trace.slice(-60)].join("\n");
	}
	return undefined;
}

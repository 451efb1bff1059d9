// The running executions of an agent in this process. Everything here can be rebuilt from the journal and the session's
// options: after a crash, another process builds its own.
import { HoldfastError } from "@holdfast/upp";
import type { Entry, Fact } from "holdfast/host";
import type { Interceptor, PolicyRun } from "holdfast/middleware";
import type { PlanAnswer, ResultError, RoutedCall, RunOptions } from "../contract/index.ts";
import type { LiveRun, Progress } from "../loop/index.ts";
import { FactEvents, keptWrites } from "../result/index.ts";
import { type LeftRun, readLeftRun } from "./left-run.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";
import { RunEvents } from "./run-events.ts";
import { RunMemory } from "./run-memory.ts";
import { seededRandom } from "./seeded.ts";

const asItIs = { push: (piece: string): string => piece, flush: (): string => "" };

/** A run in flight in this process. */
export interface OpenRun extends LiveRun {
	readonly events: RunEvents;
	/** The seed of its random numbers; undefined if they are the system's. */
	seed: number | undefined;
	/** The current iteration, starting at 1. */
	step: number;
	/** The events of the facts so far. */
	facts: FactEvents;
	/** Position of the last entry that this process committed. */
	committed: number;
	/** The outcome; set if the run ended in this process. */
	progress: Progress | undefined;
	/** Set when an interrupted run is resumed, until the resumption is recorded. */
	left: LeftRun | undefined;
	readonly ownMemory: RunMemory;
	/** Resolves when abandoned tools have ended; never rejects. */
	idle(): Promise<unknown>;
	/** Reports an error, whether or not it was retried. */
	failed(error: ResultError): void;
	/** Whether the last error of the iteration is this one. */
	isLastError(error: ResultError): boolean;
	track(work: Promise<unknown>): void;
}

export class LiveRuns {
	readonly #agent: ResolvedAgent;
	readonly #open = new Map<string, OpenRun>();
	/** Options of sessions that were created in this process. */
	readonly #options = new Map<string, RunOptions>();
	/** Ended runs, until their session has read the outcome. */
	readonly #over = new Map<string, OpenRun>();

	constructor(agent: ResolvedAgent) {
		this.#agent = agent;
	}

	/** Observes committed facts, and emits the derived events. Reads a run's history before it is resumed. */
	get interceptor(): Interceptor {
		return {
			name: "runner",
			begin: (policyRun) => {
				const { runId, sessionKey } = policyRun;
				const entries = (after?: number): Promise<readonly Entry[]> => policyRun.entries(after);
				return {
					deltas: "as-is",
					admits: ["run.resumed"],
					admit: (fact) =>
						fact.kind === "run.resumed"
							? this.#resumes(this.get(runId, sessionKey), { entries }, fact.reason === "answered")
							: undefined,
					committed: (entry) => {
						const run = this.get(runId, sessionKey);
						this.#committed(run, entry);
						if (entry.fact.kind === "run.ended") this.#ended(run, policyRun.folded() as Progress | undefined);
					},
				};
			},
		};
	}

	/** Stores the options of a session that is created. */
	created(sessionId: string, options: RunOptions): void {
		this.#options.set(sessionId, options);
	}

	/** Returns the run, and creates it if it is unknown. */
	get(runId: string, sessionKey: string | undefined): OpenRun {
		let run = this.#open.get(runId);
		if (run === undefined) {
			run = this.#make(runId, sessionKey ?? runId);
			this.#open.set(runId, run);
		}
		return run;
	}

	/** Returns and forgets the state of an ended run. */
	take(runId: string): OpenRun | undefined {
		const run = this.#over.get(runId) ?? this.#open.get(runId);
		this.#over.delete(runId);
		this.#open.delete(runId);
		return run;
	}

	/** Forgets an ended session. */
	forget(sessionId: string): void {
		this.#options.delete(sessionId);
	}

	#make(runId: string, sessionId: string): OpenRun {
		const { config, flags, redactor, ports, safety, router, handlers, recording } = this.#agent;
		const events = new RunEvents(
			{
				bus: config.eventBus,
				store: config.eventStore,
				redactor,
				logToolInputs: flags.logToolInputs,
				clock: ports.clock,
				handlers: (name) => handlers.get(name) ?? [],
			},
			runId,
			sessionId,
		);
		const identity = { agentId: config.id, sessionId };
		const options = this.#options.get(sessionId);
		const working = new Set<Promise<unknown>>();
		const ownMemory = new RunMemory(() => this.#agent.memory());
		let lastError: string | undefined;
		const keyOf = ({ code, message }: ResultError): string =>
			JSON.stringify(redactor.maskSecrets([code, message]));
		const run: OpenRun = {
			runId,
			sessionId,
			seed: seedOf(options),
			random: (purpose) => (run.seed === undefined ? Math.random : seededRandom(run.seed, purpose)),
			clock: ports.clock,
			events,
			step: 0,
			facts: new FactEvents(config.id),
			committed: 0,
			progress: undefined,
			left: undefined,
			ownMemory,
			get memory() {
				return ownMemory.client();
			},
			options: async () => options ?? (await this.#readOptions(sessionId)),
			stepStarts(step) {
				run.step = step;
				lastError = undefined;
				run.facts.plans(step);
				events.emit("step.start", { step });
				events.guarded("onStepStart", () => config.onStepStart?.({ sessionId, step }));
			},
			isLastError: (error) => lastError === keyOf(error),
			failed(error) {
				lastError = keyOf(error);
				events.failed(error);
				const { code = "ERROR", message } = redactor.redact(error);
				events.guarded("onError", () => config.onError?.({ code, message, sessionId }));
			},
			async callModel(request, signal): Promise<RoutedCall> {
				// Recorded events are masked already, piece by piece.
				const masked = recording === undefined ? redactor.stream() : asItIs;
				const tokens = (text: string): void => {
					if (text === "") return;
					events.emit("model.tokens", { step: run.step, text });
					events.guarded("onModelTokens", () => config.onModelTokens?.(text));
				};
				const messages = await safety.checkPrompt(request.messages, identity);
				const isChanged =
					config.safety?.policyEngine !== undefined &&
					JSON.stringify(messages) !== JSON.stringify(redactor.maskSecrets(request.messages));
				const purpose = request.purpose ?? "call";
				events.emit("model.start", {
					step: run.step,
					purpose,
					messages,
					...(isChanged ? { isChanged } : {}),
				});
				const routed = await router.call(
					{ ...request, messages },
					{ signal, onTokens: (text) => tokens(masked.push(text)), failed: (error) => run.failed(error) },
				);
				signal.throwIfAborted();
				tokens(masked.flush());
				events.emit("model.end", { step: run.step, routed });
				return routed;
			},
			async renderPrompt(id, params) {
				const store = config.promptStore;
				if (store === undefined)
					throw new HoldfastError("PROMPT_NOT_FOUND", "This agent has no prompt store. Give `promptStore`.");
				const { text, meta } = await store.render(id, params === undefined ? undefined : { ...params });
				return { text, version: meta?.version ?? (await store.get(id))?.version ?? "" };
			},
			track(work) {
				working.add(work);
				void work.finally(() => working.delete(work));
			},
			idle: () => Promise.allSettled([...working]),
		};
		return run;
	}

	async #readOptions(sessionId: string): Promise<RunOptions> {
		const kept = await this.#agent.host.values?.values(sessionId, "runner").get("options");
		return (kept ?? {}) as RunOptions;
	}

	/** Reads the run's history, unless only this process has had the run and nothing was cut off. */
	async #resumes(run: OpenRun, { entries }: Pick<PolicyRun, "entries">, isAnswered: boolean): Promise<void> {
		const { config } = this.#agent;
		const isKnown = isAnswered && run.committed > 0 && (await entries(run.committed)).length === 0;
		if (isKnown) return;
		run.seed ??= seedOf(await run.options());
		await run.events.stored();
		run.left = await readLeftRun(
			await entries(),
			{ runId: run.runId, agentId: config.id },
			config.eventStore,
		);
	}

	/** Continues a run from its recorded state. */
	#resumed(run: OpenRun, left: LeftRun, reason: string): void {
		const isSameProcess = run.committed > 0;
		run.left = undefined;
		run.facts = left.facts;
		run.step = left.facts.step;
		if (this.#agent.config.memoryClient === undefined) run.ownMemory.becomes(left.memory);
		run.events.resumed(left, reason, isSameProcess ? "here" : "elsewhere");
	}

	#committed(run: OpenRun, { seq, fact }: Entry): void {
		if (fact.kind === "run.resumed" && run.left !== undefined) this.#resumed(run, run.left, fact.reason);
		run.committed = seq;
		if (fact.kind === "decision") run.ownMemory.keep(keptWrites(fact));
		for (const { type, data } of run.facts.next(fact)) run.events.emitFact(type, data);
		const error = errorIn(fact);
		if (error !== undefined && !run.isLastError(error)) run.failed(error);
	}

	/** A process that has the run open does not need to read its outcome again. */
	#ended(run: OpenRun, progress: Progress | undefined): void {
		run.progress = progress;
		this.#open.delete(run.runId);
		if (this.#options.has(run.sessionId)) this.#over.set(run.runId, run);
	}
}

/** The error of a decision, or the reason why its step does not run. A model failure has already been reported. */
function errorIn(fact: Fact): ResultError | undefined {
	if (fact.kind !== "decision") return undefined;
	const { error, verdict } = fact.answer as PlanAnswer;
	if (error !== undefined) return error;
	return verdict?.action === "blocked" || verdict?.action === "refused" ? verdict : undefined;
}

function seedOf(options: RunOptions | undefined): number | undefined {
	return options?.seed ?? (options?.deterministic === true ? 0 : undefined);
}

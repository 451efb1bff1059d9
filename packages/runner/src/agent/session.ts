// One run: a session of the engine, with the id that identifies it everywhere (keeps I1). created → running → ended;
// `run` starts it once, `abort` ends it in any process.

import { createRedactor, type Redactor } from "@holdfast/redaction";
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { AgentRun, Host } from "holdfast";
import type { ActionResult, AgentResult, RunnerSession, RunOptions } from "../contract/index.ts";
import { noProgress, type Progress, progressAfter } from "../loop/index.ts";
import { resultOf } from "../result/index.ts";
import type { OpenRun } from "./live-runs.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";

const readResultNames = optionNames<ReadResultOptions>({ runId: "text", secrets: "texts" });

/** The parts that a session receives from its agent. */
export interface SessionParts {
	readonly id: string;
	readonly options: RunOptions;
	readonly agent: ResolvedAgent;
	/** Starts the recorded run. */
	begin(task: string): Promise<AgentRun>;
	/** Returns the state of the run in this process. */
	take(runId: string): OpenRun | undefined;
	/** Called when any runner starts it. */
	runs(session: Session): Promise<AgentResult>;
	/** Called when it is aborted during the run. */
	aborts(session: Session): void;
	over(session: Session, result: AgentResult): void;
}

export class Session implements RunnerSession {
	readonly id: string;
	readonly #parts: SessionParts;
	#isStarted = false;
	#isAborted = false;
	#isOver = false;
	#run: AgentRun | undefined;
	#actions: Progress["actions"] | undefined;

	constructor(parts: SessionParts) {
		this.id = parts.id;
		this.#parts = parts;
	}

	/** Runs it to its end. Rejects with `SESSION_ALREADY_RUN` if it was run before. */
	async run(): Promise<AgentResult> {
		if (this.#isStarted)
			throw new HoldfastError(
				"SESSION_ALREADY_RUN",
				`The session ${this.id} has already run. Create another one.`,
			);
		this.#isStarted = true;
		const result = this.#isAborted ? this.#neverRun() : await this.#parts.runs(this);
		this.#isOver = true;
		this.#parts.over(this, result);
		return result;
	}

	/** Ends the run: no plan and no tool call starts afterwards. Has no effect on an ended run. */
	abort(): void {
		if (this.#isOver || this.#isAborted) return;
		this.#isAborted = true;
		if (this.#isStarted) this.#parts.aborts(this);
	}

	/** Whether it is running. */
	get isRunning(): boolean {
		return this.#isStarted && !this.#isOver;
	}

	/** The actions of the built-in loop, without their inputs and outputs; undefined if that loop did not run. */
	get actions(): Iterable<ActionResult> | undefined {
		const { redactor } = this.#parts.agent;
		return this.#actions === undefined ? undefined : namesOf(this.#actions, redactor);
	}

	/** Runs it with the built-in loop. */
	async drive(): Promise<AgentResult> {
		const { options, agent, take } = this.#parts;
		const run = await this.#parts.begin(options.task ?? agent.config.taskPrompt);
		this.#run = run;
		if (this.#isAborted) run.interrupt();
		let { outcome } = await run.result();
		if (outcome === "waiting") {
			await ended(agent.host, this.id, run.runId);
			outcome = "completed";
		}
		const open = take(run.runId);
		if (open !== undefined && outcome === "aborted") await this.#grace(open);
		await open?.events.stored();
		return this.#result(open?.progress ?? (await progressOf(agent.host, this.id, run.runId)), open);
	}

	/** Ends it if the built-in loop runs it. */
	interrupt(): void {
		this.#run?.interrupt();
	}

	/** Gives a tool a moment to stop after a stop request. */
	#grace(open: OpenRun): Promise<unknown> {
		const { ports, config } = this.#parts.agent;
		return new Promise((resolve) => {
			const callOff = ports.timers.after(config.abortGraceMs ?? 1_000, () => resolve(undefined));
			void open.idle().then(() => {
				callOff();
				resolve(undefined);
			});
		});
	}

	#result(progress: Progress, open: OpenRun | undefined): AgentResult {
		const { redactor, flags } = this.#parts.agent;
		this.#actions = progress.actions;
		return resultOf(progress, {
			redactor,
			sessionId: this.id,
			...(open === undefined ? {} : { eventStream: () => open.events.stream }),
			warnings: open?.events.warnings ?? [],
			logToolInputs: flags.logToolInputs,
		});
	}

	#neverRun(): AgentResult {
		const { agent } = this.#parts;
		const at = agent.ports.clock.now();
		const runId = agent.ports.ids.uuid();
		return this.#result(
			{ ...noProgress, runId, startedAt: at, finishedAt: at, outcome: "aborted" },
			undefined,
		);
	}
}

function* namesOf(actions: Iterable<ActionResult>, redactor: Redactor): Iterable<ActionResult> {
	for (const { input: _, output: __, error: ___, toolId, ...action } of actions)
		yield toolId === undefined ? action : { ...action, toolId: redactor.redact(toolId) };
}

/** Returns the outcome of a run according to its journal. */
async function progressOf(host: Host, sessionKey: string, runId: string): Promise<Progress> {
	let progress = noProgress;
	for (const entry of await host.journal.read(sessionKey))
		if (entry.runId === runId) progress = progressAfter(progress, entry);
	return progress;
}

/** Resolves when a waiting run has ended in any process, or its session is deleted. */
async function ended({ journal }: Host, sessionKey: string, runId: string): Promise<void> {
	for (;;) {
		let wake: () => void = () => {};
		const changed = new Promise<void>((resolve) => {
			wake = resolve;
		});
		const stop = journal.watch(sessionKey, wake);
		try {
			if ((await journal.head(sessionKey))?.openRunId !== runId) return;
			await changed;
		} finally {
			stop();
		}
	}
}

/** Selects a run of a session. */
export interface ReadResultOptions {
	/** Default: the last run. */
	readonly runId?: string;
	/** Values to mask everywhere. Default: none. */
	readonly secrets?: readonly string[];
}

/** Reads the result of a run from its journal, in any process. Undefined if the run does not exist. */
export async function readResult(
	host: Host,
	sessionKey: string,
	options: ReadResultOptions = {},
): Promise<AgentResult | undefined> {
	checkOptions(options, readResultNames, { of: "readResult()" });
	const { runId, secrets } = options;
	const entries = await host.journal.read(sessionKey);
	const id = runId ?? entries.at(-1)?.runId;
	if (id === undefined || !entries.some((entry) => entry.runId === id)) return undefined;
	const progress = entries.filter((entry) => entry.runId === id).reduce(progressAfter, noProgress);
	return resultOf(progress, {
		redactor: createRedactor({ secrets }),
		sessionId: sessionKey,
		warnings: [],
		logToolInputs: "redacted",
	});
}

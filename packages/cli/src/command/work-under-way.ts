/**
 * Work on one session in this process: setup, and showing, interrupting, approving and concluding its runs. One run at a
 * time is followed; the last one determines the exit code.
 */

import {
	type Agent,
	type AgentRun,
	AgentState,
	type Host,
	type PendingToolCall,
	type RunResult,
	type Session,
} from "holdfast";
import { chooseRenderer, type Renderer } from "../render/index.ts";
import { type CommandIo, quoted } from "../terminal/index.ts";
import {
	Approvals,
	assistantsFolder,
	decideInLines,
	ending,
	exitCodes,
	type OpenAgent,
	type Setup,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";

type WorkCommand = Extract<Command, { name: "run" | "resume" | "release" }>;

/** Work on one session, shown live until it is closed. */
export interface Work {
	readonly agent: Agent;
	readonly host: Host;
	readonly renderer: Renderer;
	/** Prints the header once. */
	begin(): void;
	/** Shows a run until it ends, is interrupted, or waits for approvals that are not given now. */
	follow(run: AgentRun): Promise<RunResult>;
	/** Resumes the run that is open or waits for approval; null if there is none. */
	continueRun(session: Session, how: "resume" | "release"): Promise<RunResult | null>;
	/** Shows how the last followed run ended; returns the exit code. */
	end(): Promise<number>;
	close(): Promise<void>;
}

/** Creates the assistant and everything that shows, interrupts and approves its work. */
export function startWork(
	setup: Setup,
	{ agent, host, modelName }: OpenAgent,
	command: WorkCommand,
	io: CommandIo,
	followed: readonly string[],
): Work {
	const renderer = chooseRenderer(io.stdout, command.json ? "json" : "text");
	const header = {
		sessionKey: setup.key,
		model: modelName,
		reason: setup.model.reason,
		dir: setup.dir,
		instructions: followed,
	};
	const mayAsk = setup.allowWrite || setup.allowShell || setup.agent !== undefined;
	// With JSON output no user can answer; without a tool that requires approval there are no questions.
	const questions = command.json || !mayAsk ? undefined : io.openQuestions();
	const decide = questions === undefined ? undefined : decideInLines(questions);
	const approvals = new Approvals({ dir: assistantsFolder(setup), options: command, renderer, decide });
	const started = performance.now();
	let begun = false;
	let active: AgentRun | undefined;
	let last: RunResult | undefined;
	let interrupts = 0;
	const stopListening = io.onInterrupt(
		() => {
			interrupts++;
			if (interrupts > 1) {
				// Committed work stays; the run remains open and can be resumed.
				io.quit(exitCodes.interrupted);
				return;
			}
			if (active !== undefined) renderer.note("Interrupting; press Ctrl-C again to quit at once.");
			active?.suspend();
			approvals.interrupt();
		},
		{ ...ending(), late },
	);
	/** The run or the disk did not finish in time: it stays open as after a crash. */
	function late(): void {
		const runId = active?.runId ?? last?.runId ?? "";
		const state = AgentState.initial();
		const result: RunResult = { runId, outcome: "suspended", text: "", state, usage: noUsage, steps: 0 };
		if (active !== undefined || last === undefined) summarise(result, exitCodes.interrupted, []);
	}
	async function show(run: AgentRun): Promise<RunResult> {
		active = run;
		if (interrupts > 0) run.suspend();
		for await (const event of run.watch()) renderer.event(event);
		const result = await run.result();
		active = undefined;
		return result;
	}
	/** Gives the available answers one by one: each change is shown as the previous one left it. */
	async function settle(result: RunResult): Promise<RunResult> {
		last = result;
		while (last.outcome === "waiting") {
			const answer = await approvals.next(last.pending ?? []);
			if (answer === undefined) break;
			last = await show(await agent.session(setup.key).answer([answer]));
		}
		return last;
	}
	function summarise(result: RunResult, exitCode: number, waiting: readonly string[]): void {
		const program = io.environment.npm_lifecycle_event === undefined ? "holdfast" : "npx holdfast";
		const db = command.dbGiven === undefined ? "" : ` --db ${quoted(command.dbGiven)}`;
		const key = quoted(setup.key);
		renderer.end({
			result,
			exitCode,
			header,
			duration: performance.now() - started,
			resumeCommand: `${program} resume ${key}${db}`,
			workCommand: `${program} worker${db}`,
			showCommand: `${program} show ${key}${db}`,
			waiting,
			continueCommand: `${program} run "…" --session ${key}${db}`,
		});
	}
	return {
		agent,
		host,
		renderer,
		begin() {
			if (begun) return;
			begun = true;
			renderer.begin(header);
			if (setup.allowWrite && modelName === "offline")
				renderer.note("The offline model only reads: it changes no files.");
		},
		follow: async (run) => settle(await show(run)),
		async continueRun(session, how) {
			const pending = await session.pending();
			approvals.check(pending);
			if (pending.length > 0) {
				this.begin();
				return settle(await waitingResult(session, pending));
			}
			const run = await session[how]();
			if (run === null) return null;
			this.begin();
			return settle(await show(run));
		},
		async end() {
			const result = last as RunResult;
			const exitCode = exitCodeOf(result);
			const waiting = result.outcome === "waiting" ? await approvals.leave(result.pending ?? []) : [];
			if (result.error !== undefined && (exitCode === exitCodes.failed || result.outcome === "error"))
				io.stderr.write(`${describeFailure(result)}\n`);
			summarise(result, exitCode, waiting);
			return exitCode;
		},
		async close() {
			questions?.close();
			await agent.close();
			await host.close();
			stopListening();
		},
	};
}

const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Returns the result of a run that waits and was not resumed. */
async function waitingResult(session: Session, pending: readonly PendingToolCall[]): Promise<RunResult> {
	const state = await session.state();
	const runId = pending[0]?.runId ?? "";
	return { runId, outcome: "waiting", pending, text: "", state, usage: noUsage, steps: 0 };
}

/** Error codes of a provider that is down or overloaded. */
const unavailable: ReadonlySet<string> = new Set(["NETWORK_ERROR", "RATE_LIMITED"]);

function exitCodeOf(result: RunResult): number {
	if (result.outcome === "waiting")
		return result.wait?.model === undefined ? exitCodes.waiting : exitCodes.unavailable;
	if (result.outcome === "completed") return exitCodes.completed;
	// The store failed to commit the run, so it stays open, but it failed in this process.
	if (result.outcome === "error" && unavailable.has(result.error?.code ?? "")) return exitCodes.unavailable;
	const broken = result.error !== undefined && !/^(?:run_suspended|lease_lost)$/.test(result.error.code);
	return result.outcome === "suspended" && !broken ? exitCodes.interrupted : exitCodes.failed;
}

function describeFailure(result: RunResult): string {
	return `holdfast: ${result.error?.message ?? "The run failed."} (${result.error?.code ?? "run_failed"})`;
}

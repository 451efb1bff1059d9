/**
 * Work on one session in this process: setup, and showing, interrupting, approving and concluding its runs. One run at a
 * time is followed; the last one determines the exit code.
 */

import { AgentState, type Host, type RunResult } from "holdfast";
import { chooseRenderer, type Renderer } from "../render/index.ts";
import { type CommandIo, printable, quoted } from "../terminal/index.ts";
import {
	Approvals,
	assistantsFolder,
	decideInLines,
	describeError,
	ending,
	exitCodes,
	type OpenAgent,
	type RunEnd,
	SessionReader,
	type Setup,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";

type WorkCommand = Extract<Command, { name: "run" | "resume" | "release" }>;

/** Work on one session, shown live until it is closed. */
export interface Work {
	readonly host: Host;
	readonly renderer: Renderer;
	/** Prints the header once. */
	begin(): void;
	/** Sends a task and shows its run until it ends, is interrupted, or waits for what cannot be given now. */
	send(task: string): Promise<void>;
	/** Continues, and shows, what is open or waits for approval. Returns how it ended; undefined if nothing was open. */
	continueOpen(how: "resume" | "release"): Promise<RunEnd["outcome"] | undefined>;
	/** Whether calls of the session wait for an answer. */
	isWaiting(): Promise<boolean>;
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
	const session = agent.session(setup.key);
	const started = performance.now();
	let begun = false;
	let awake: ReturnType<typeof setInterval> | undefined;
	let last: RunEnd | undefined;
	let interrupts = 0;
	const begin = (): void => {
		if (begun) return;
		begun = true;
		renderer.begin(header);
		if (setup.allowWrite && modelName === "offline")
			renderer.note("The offline model only reads: it changes no files.");
	};
	const reader = new SessionReader({
		session,
		host,
		key: setup.key,
		until: "waits",
		began(place) {
			begin();
			if (place === "here") return;
			renderer.note("The run continues in another process.");
			// Nothing else keeps this process alive until then.
			awake ??= setInterval(() => {}, 60_000);
		},
		event: (event) => renderer.event(event),
		answer(calls) {
			begin();
			return approvals.next(calls);
		},
		failed: (error) => renderer.note(describeError(error)),
	});
	let opening: ReturnType<SessionReader["start"]> | undefined;
	const opened = (): ReturnType<SessionReader["start"]> => {
		opening ??= reader.start();
		return opening;
	};
	const stopListening = io.onInterrupt(
		() => {
			interrupts++;
			if (interrupts > 1) {
				// Committed work stays; the run remains open and can be resumed.
				io.quit(exitCodes.interrupted);
				return;
			}
			if (reader.place !== undefined) renderer.note("Interrupting; press Ctrl-C again to quit at once.");
			approvals.interrupt();
			void reader.leave();
		},
		{ ...ending(), late },
	);
	/** The run or the disk did not finish in time: it stays open as after a crash. */
	function late(): void {
		const { runId = last?.runId ?? "" } = reader;
		if (reader.runId === undefined && last !== undefined) return;
		summarise(resultOf({ runId, outcome: "suspended" }), exitCodes.interrupted, []);
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
		host,
		renderer,
		begin,
		async send(task) {
			await opened();
			last = await reader.follow(await reader.enter(() => session.send(task)));
		},
		async continueOpen(how) {
			approvals.check(await session.pending());
			last = await reader.continueOpen(await opened(), how);
			return last?.outcome;
		},
		isWaiting: async () => (await session.pending()).length > 0,
		async end() {
			const result = resultOf(last as RunEnd);
			const exitCode = exitCodeOf(result);
			const waiting = result.outcome === "waiting" ? await approvals.leave(await session.pending()) : [];
			if (result.error !== undefined && (exitCode === exitCodes.failed || result.outcome === "error"))
				io.stderr.write(`${describeFailure(result)}\n`);
			summarise(result, exitCode, waiting);
			return exitCode;
		},
		async close() {
			questions?.close();
			clearInterval(awake);
			await reader.leave();
			await agent.close();
			await host.close();
			stopListening();
		},
	};
}

/** Completes the end of a run that this process did not work on. */
function resultOf(end: RunEnd): RunResult {
	const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
	return { text: "", state: AgentState.initial(), usage, steps: 0, ...end };
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
	const { message = "The run failed.", code = "run_failed" } = result.error ?? {};
	return printable(`holdfast: ${message} (${code})`);
}

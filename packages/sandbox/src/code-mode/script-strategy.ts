// The strategy of the agent that runs a script: the script itself decides which tools are called next (keeps I1, I2). It receives
// each outcome once it is recorded, and runs until it waits again. Its new calls start while others run.
import { HoldfastError, type ModelTool } from "@holdfast/upp";
import type { ConcurrentAction, ConcurrentDecider } from "holdfast/execution";
import { RunningScripts } from "./running-scripts.ts";
import { Script, type ScriptProgress, type StartScript } from "./script.ts";
import { type CallSettled, emptyLog, recordsAfter, type ScriptLog, type ScriptStart } from "./script-log.ts";
import { before, endOf, type ScriptEnd } from "./script-result.ts";
import { lengthOfHead } from "./snippets.ts";

const topic = "script";

/** The decision of a script, as it is recorded. The first one contains the start. */
interface ScriptStep {
	readonly start?: ScriptStart;
}

export interface ScriptRunner {
	/** Prepares the code of a script for execution. */
	starting(code: string, start: ScriptStart): StartScript;
	readonly tools: readonly ModelTool[];
	readonly maxCalls: number;
	readonly concurrency: number;
	readonly maxOutput: number;
}

export function scriptDecider(runner: ScriptRunner): ConcurrentDecider<ScriptLog> {
	const running = new RunningScripts();
	return {
		name: "script",
		initial: () => emptyLog,
		evolve(own, { fact }) {
			const { last: before } = own;
			switch (fact.kind) {
				case "decision": {
					if (fact.topic !== topic) return own;
					const { start } = fact.answer as ScriptStep;
					return start === undefined ? own : { ...own, start };
				}
				case "tools.requested": {
					const calls = fact.calls.map(({ toolCallId, toolName }) => ({ id: toolCallId, toolName }));
					return { ...own, last: { record: { kind: "requested", calls }, before } };
				}
				case "tool.settled": {
					const { callId: id, outcome, result } = fact;
					const record: CallSettled = { kind: "settled", id, isError: outcome !== "done", result };
					const isCut = outcome === "cancelled";
					return { ...own, last: { record: isCut ? { ...record, isCut } : record, before } };
				}
				default:
					return own;
			}
		},
		next(log, state, { runId, signal }) {
			const code = state.messages.findLast(({ type }) => type === "user")?.text ?? "";
			return advance(runner, running, { runId, signal, code, log });
		},
	};
}

interface Advance {
	readonly runId: string;
	readonly signal: AbortSignal;
	readonly code: string;
	readonly log: ScriptLog;
}

async function advance(
	runner: ScriptRunner,
	running: RunningScripts,
	{ runId, signal, code, log }: Advance,
): Promise<ConcurrentAction> {
	const { starting, maxCalls, concurrency } = runner;
	const kept = running.take(runId);
	const news = kept === undefined ? undefined : recordsAfter(log, kept.last);
	if (news === undefined) kept?.script.stop();
	const start = log.start ?? newStart();
	const script =
		news === undefined || kept === undefined ? new Script(starting(code, start), maxCalls) : kept.script;
	const stop = (): void => script.stop();
	signal.addEventListener("abort", stop, { once: true });
	let progress: ScriptProgress;
	try {
		if (signal.aborted) stop();
		progress = await script.advance(news ?? recordsAfter(log, undefined) ?? [], concurrency);
	} finally {
		signal.removeEventListener("abort", stop);
	}
	if (progress.kind !== "calls") {
		script.stop();
		return finish(endOf(progress, { ...runner, indent: before.length + lengthOfHead(code) }));
	}
	running.keep(runId, { script, last: log.last });
	const { calls } = progress;
	if (calls.length === 0) return { kind: "results" };
	const answer: ScriptStep = { start };
	return log.start === undefined
		? { kind: "calls", calls, decision: { topic, answer } }
		: { kind: "calls", calls };
}

function finish({ text, failure }: ScriptEnd): ConcurrentAction {
	if (failure === undefined) return { kind: "finish", text };
	const error =
		failure === "diverged"
			? new HoldfastError("code_diverged", text, { retryable: false })
			: new HoldfastError("script_failed", text, { retryable: false });
	return { kind: "finish", error };
}

function newStart(): ScriptStart {
	return { seed: Math.floor(Math.random() * 2 ** 32), now: Date.now() };
}

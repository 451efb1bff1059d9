// Calls the function of a tool within its time limit (keeps I8).
import type { MaybePromise } from "../host/index.ts";
import { type EngineTool, runTool, type ToolOutcome, withinItsTime } from "../tools/index.ts";
import { CallContext } from "./call-context.ts";
import type { CallInRound } from "./call-in-round.ts";
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";
import type { ToolRound } from "./tool-round.ts";

/** Starts the function of a call whose start is recorded, and returns its outcome. */
export function startCall(
	run: Run,
	step: number,
	each: CallInRound,
	tool: EngineTool,
	round: ToolRound,
): MaybePromise<ToolOutcome> {
	const { clock, timers } = run.agent.ports;
	each.startedAt = clock.monotonic();
	const expiring = tool.timeoutMs === undefined ? undefined : new AbortController();
	const signals = [round.ends, expiring?.signal, each.cancelling?.signal].filter(
		(signal) => signal !== undefined,
	);
	const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
	const context = new CallContext(run, step, tool, each, round, signal);
	each.context = context;
	const working = withinCall(run.processKey, () => runTool(tool, each.input, context, context.emit));
	if (expiring === undefined) return working;
	return withinItsTime(tool, working, timers, {
		stopped: run.signal,
		expire: (reason) => expiring.abort(reason),
	});
}

// Calls the function of a tool within its time limit (keeps I8).
import type { MaybePromise } from "../host/index.ts";
import { type EngineTool, runTool, type ToolOutcome, withinItsTime } from "../tools/index.ts";
import { CallContext, type ShowsChildren } from "./call-context.ts";
import type { CallInRound } from "./call-in-round.ts";
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";

/** Starts the function of a call whose start is recorded, and returns its outcome. */
export function startCall(
	run: Run,
	step: number,
	each: CallInRound,
	tool: EngineTool,
	round: ShowsChildren,
): MaybePromise<ToolOutcome> {
	const { clock, timers } = run.agent.ports;
	each.startedAt = clock.monotonic();
	const expiring = tool.timeoutMs === undefined ? undefined : new AbortController();
	const context = new CallContext(run, step, tool, each, round, expiring?.signal);
	each.context = context;
	const working = withinCall(run.processKey, () => runTool(tool, each.input, context, context.emit));
	if (expiring === undefined) return working;
	return withinItsTime(tool, working, timers, {
		stopped: run.signal,
		expire: (reason) => expiring.abort(reason),
	});
}

// A run as planners and reflectors see it. Lists are copied when they are looked at: who does not look pays nothing.
import type { ActionResult, ChatMessage, PlannerState } from "../contract/index.ts";
import type { KnownTools, LiveRun, LoopParts } from "./loop-parts.ts";
import type { Progress } from "./progress.ts";

export function plannerState(
	parts: LoopParts,
	live: LiveRun,
	progress: Progress,
	known: KnownTools,
): PlannerState {
	const { begin, actions, transcript, scratchpad, blocks, steps } = progress;
	let said: readonly ChatMessage[] | undefined;
	let notes: readonly string[] | undefined;
	let done: readonly ActionResult[] | undefined;
	const lastResult = actions.at(-1);
	const state: { -readonly [Name in keyof PlannerState]: PlannerState[Name] } = {
		agentId: parts.agentId,
		sessionId: live.sessionId,
		task: begin?.task ?? "",
		step: steps + 1,
		get transcript() {
			said ??= transcript.toArray();
			return said;
		},
		get scratchpad() {
			notes ??= scratchpad.toArray();
			return notes;
		},
		get actions() {
			done ??= actions.toArray();
			return done;
		},
		memory: begin?.memory ?? [],
		tools: parts.tools(known),
		safetyBudget: Math.max(0, parts.safetyBudget - blocks),
	};
	if (lastResult !== undefined) state.lastResult = lastResult;
	return state;
}

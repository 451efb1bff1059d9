// The turn of a run as its folded state has it: made when it is asked for.
import { createTurn, type Turn } from "@holdfast/upp";
import { cycleUsage, runMessages, type SessionState } from "../facts/index.ts";
import type { GenerateResult } from "../state/index.ts";

/** The turn of a run so far; undefined while the model has not answered. */
export function turnOf(run: { readonly state: SessionState }): Turn | undefined {
	const state = run.state.run;
	if (state?.assistant === undefined) return undefined;
	return createTurn({
		messages: runMessages(run.state),
		response: state.assistant.message,
		toolExecutions: state.executions.toArray(),
		usage: { ...state.usage, cycles: cycleUsage(state) },
		cycles: state.cycles,
		...(state.assistant.data === undefined ? {} : { data: state.assistant.data }),
	});
}

/** What `onStepEnd` gets. The turn is built when it is looked at, for it costs its length (keeps I5). */
export function stepResult(state: SessionState): GenerateResult {
	let turn: Turn | undefined;
	return {
		get turn() {
			turn ??= turnOf({ state }) as Turn;
			return turn;
		},
		state: state.agent,
	};
}

// The view that tools and hooks have of their execution.
import { HoldfastTypeError } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { ExecutionState, Message } from "../types/index.ts";
import type { LiveRun } from "./live-run.ts";
import type { CallSignals } from "./row.ts";

/** The live state of the execution. `later` receives requests made outside a call. */
export function executionState(live: LiveRun, later: (signals: CallSignals) => void): ExecutionState {
	return {
		flowId: live.runId,
		get currentSide() {
			return live.flow.side;
		},
		get stepCount() {
			return live.flow.steps.a + live.flow.steps.b;
		},
		get sideAStepCount() {
			return live.flow.steps.a;
		},
		get sideBStepCount() {
			return live.flow.steps.b;
		},
		get stopped() {
			return live.stoppedBy !== undefined;
		},
		get stoppedBy() {
			return live.stoppedBy;
		},
		get messageHistory() {
			return historyOf(live);
		},
		get abortSignal() {
			return live.signal;
		},
		get promptPath() {
			return Object.freeze([...live.promptPath]);
		},
		forceTurn(side) {
			if (live.index.agent(live.flow.agent)?.type !== "dual_ai")
				throw new HoldfastError(
					"no_second_side",
					"forceTurn() needs an agent of the type `dual_ai`: this one has only one side.",
				);
			if (side !== "a" && side !== "b")
				throw new HoldfastTypeError("invalid_argument", 'A side must be "a" or "b".');
			if (!live.signalled({ turn: side })) later({ turn: side });
		},
		stop() {
			const stop = live.flow.side;
			if (!live.signalled({ stop })) later({ stop });
		},
	} as ExecutionState;
}

/** Returns the messages of this execution as copies: changing them has no effect elsewhere. */
function historyOf({ view, runId }: LiveRun): readonly Message[] {
	const { rows } = view;
	let from = rows.length;
	while (from > 0 && rows[from - 1]?.runId === runId) from--;
	return Object.freeze(rows.slice(from).map(({ message }) => Object.freeze(structuredClone(message))));
}

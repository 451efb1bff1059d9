// The progress of a custom strategy, as reported by its hooks and sub-agents: its step, its latest state, traces and
// checkpoints.
import { TraceCollector } from "../engine/index.ts";
import type { AgentState, SubagentExecutionTrace } from "../state/index.ts";
import type { SubagentEvent } from "../tools/index.ts";
import type { SessionCheckpoints } from "./checkpoints.ts";

export class OpaqueProgress {
	step: number;
	/** The latest state that the strategy reported. */
	state: AgentState;
	#saved = false;
	readonly #checkpoints: SessionCheckpoints | undefined;
	readonly #collector = new TraceCollector();
	#traces: readonly SubagentExecutionTrace[] = [];

	constructor(state: AgentState, checkpoints: SessionCheckpoints | undefined) {
		this.step = state.step;
		this.state = state;
		this.#checkpoints = checkpoints;
	}

	/** Records an event that a tool's sub-agent reports. */
	notify(event: SubagentEvent): void {
		this.#collector.notify(event);
	}

	/** Records the start of a step. */
	begin(step: number, state: AgentState): void {
		this.step = step;
		this.state = state;
	}

	/** Records the end of a step, which is a checkpoint. */
	end(state: AgentState): void {
		this.state = this.#completed(state);
		this.#checkpoints?.save(this.state);
		this.#saved = true;
	}

	/** Returns the final state. If the strategy reported no step, the final state is saved as a checkpoint. */
	finished(state: AgentState): AgentState {
		const final = this.#completed(state);
		if (!this.#saved) this.#checkpoints?.save(final);
		return final;
	}

	/** Returns the strategy's state, completed with the id of its session and the traces of its sub-agents so far. */
	#completed(given: AgentState): AgentState {
		const finished = this.#collector.take();
		if (finished.length > 0) this.#traces = [...this.#traces, ...finished];
		let state = given;
		const there = new Set(state.subagentTraces?.map((trace) => trace.subagentId));
		for (const trace of this.#traces) {
			if (!there.has(trace.subagentId)) state = state.withSubagentTrace(trace);
		}
		return this.#checkpoints === undefined ? state : this.#checkpoints.identify(state);
	}
}

// How far a custom strategy is, as its hooks and sub-agents report: its step, its latest state, traces and checkpoints.
import { TraceCollector } from "../engine/index.ts";
import type { AgentState, SubagentExecutionTrace } from "../state/index.ts";
import type { SubagentEvent } from "../tools/index.ts";
import type { SessionCheckpoints } from "./checkpoints.ts";

export class OpaqueProgress {
	step: number;
	/** The latest state the strategy reported. */
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

	/** Reported by a sub-agent of a tool. */
	notify(event: SubagentEvent): void {
		this.#collector.notify(event);
	}

	/** A step starts. */
	begin(step: number, state: AgentState): void {
		this.step = step;
		this.state = state;
	}

	/** A step has ended: that is a checkpoint. */
	end(state: AgentState): void {
		this.state = this.#completed(state);
		this.#checkpoints?.save(this.state);
		this.#saved = true;
	}

	/** The final state. A strategy that reported no step is saved at its end. */
	finished(state: AgentState): AgentState {
		const final = this.#completed(state);
		if (!this.#saved) this.#checkpoints?.save(final);
		return final;
	}

	/** The strategy's own state, with the session it belongs to and the traces of its sub-agents so far. */
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

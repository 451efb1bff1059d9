// The events of a run as its journal tells them. Boundaries have no entries: they are put where the drive tells them, and
// where a run failed or was stopped between two of them, where they most likely stood.

import type { AgentEvent, Entry } from "../../facts/index.ts";
import { evolve, initialSession, project, type RunEvent, type SessionState } from "../../facts/index.ts";
import { SessionEvents } from "../../sessions/index.ts";
import { AgentState } from "../../state/index.ts";

const shown = { show: (_: string, result: unknown): unknown => result };
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The events of the entries of one run, from its first one. */
export function runEventsOf(entries: readonly Entry[]): readonly AgentEvent[] {
	const events: AgentEvent[] = [];
	const projection = new SessionEvents();
	void projection.return();
	projection.onEvent = (event) => events.push(event);
	const boundaries = new Boundaries((event) => projection.tell(event));
	let state: SessionState = {
		...initialSession(AgentState.initial()),
		seq: (entries[0]?.seq ?? 1) - 1,
	};
	for (const entry of entries) {
		boundaries.before(entry);
		state = evolve(state, entry, shown);
		const event = project(state, entry, undefined);
		if (event !== undefined) projection.tell(event);
		boundaries.after(entry, state);
	}
	return events;
}

class Boundaries {
	readonly #tell: (event: RunEvent) => void;
	#inputs = 0;
	#turn: "waits" | "begun" = "waits";
	#step = 0;
	#stepIs: "open" | "answered" | "over" = "over";
	#cancelled = false;

	constructor(tell: (event: RunEvent) => void) {
		this.#tell = tell;
	}

	before({ seq, fact }: Entry): void {
		switch (fact.kind) {
			case "input":
				// What began the turn stands before it, whatever it is.
				if (this.#inputs++ === 0) return;
				this.#beginTurn(seq);
				if (fact.placement === "step-start") this.#beginStep(seq, this.#step + 1);
				if (fact.placement === "step-end") this.#endStep(seq);
				return;
			case "assistant":
				this.#beginTurn(seq);
				if (fact.step > this.#step) this.#beginStep(seq, fact.step);
				else this.#stepIs = "open";
				return;
			case "run.ended":
				this.#beginTurn(seq);
				if (fact.outcome === "completed" || !this.#cancelled) this.#endStep(seq);
				if (fact.outcome === "error" && this.#stepIs === "over") this.#beginStep(seq, this.#step + 1);
		}
	}

	after({ fact }: Entry, { run }: SessionState): void {
		if (fact.kind === "tool.settled") this.#cancelled ||= fact.outcome === "cancelled";
		if (fact.kind === "note" && fact.endsStep === true) this.#stepIs = "answered";
		if (fact.kind !== "assistant" && fact.kind !== "tool.settled") return;
		if (run?.unsettled === 0 && run.assistant?.continues !== true && this.#step > 0)
			this.#stepIs = "answered";
	}

	#beginTurn(seq: number): void {
		if (this.#turn === "begun") return;
		this.#turn = "begun";
		this.#tell({ type: "turn_start", seq, sub: 0 });
	}

	#beginStep(seq: number, step: number): void {
		if (this.#stepIs === "open" && step === this.#step) return;
		this.#endStep(seq);
		this.#step = step;
		this.#stepIs = "open";
		this.#tell({ type: "step_start", seq, sub: 0, step });
	}

	#endStep(seq: number): void {
		if (this.#stepIs !== "answered") return;
		this.#stepIs = "over";
		this.#tell({ type: "step_end", seq, sub: 0, step: this.#step, usage });
	}
}

// Supplies marks for journals of releases that recorded no boundaries. They are placed where the drive emitted them or,
// if a run failed or was stopped between two of them, at the most likely position.
import type { ChunkEvent } from "./chunk.ts";
import type { BoundaryMark, Entry } from "./fact.ts";
import type { SessionState } from "./session-state.ts";

/** Follows the entries and chunks of a session as they are read, in order. */
export class SuppliedMarks {
	#inputs = 0;
	#turn: "waits" | "begun" = "waits";
	#step = 0;
	#stepIs: "open" | "answered" | "over" = "over";
	#cancelled = false;
	#marks: BoundaryMark[] = [];

	/** Returns the marks that an entry would have. */
	before({ fact }: Entry): readonly BoundaryMark[] {
		this.#marks = [];
		switch (fact.kind) {
			case "run.started":
				this.#beginRun();
				break;
			case "input":
				// The first input started the turn and precedes it.
				if (this.#inputs++ === 0) break;
				this.#beginTurn();
				if (fact.placement === "step-start") this.#beginStep(this.#step + 1);
				if (fact.placement === "step-end") this.#endStep();
				break;
			case "assistant":
				this.#beginTurn();
				if (fact.step > this.#step) this.#beginStep(fact.step);
				else this.#stepIs = "open";
				break;
			case "note":
				if (fact.step <= this.#step) break;
				this.#beginTurn();
				this.#beginStep(fact.step);
				break;
			case "run.ended":
				this.#beginTurn();
				if (fact.outcome === "completed" || !this.#cancelled) this.#endStep();
				if (fact.outcome === "error" && this.#stepIs === "over") this.#beginStep(this.#step + 1);
				break;
			case "run.resumed":
			case "run.parked":
			case "tools.requested":
			case "tool.started":
			case "tool.settled":
			case "decision":
			case "tools.pending":
			case "waiting":
			case "wait.ended":
			case "message.added":
			case "message.updated":
			case "message.deleted":
			case "history.cut":
			case "folded":
				break;
			default:
				fact satisfies never;
				break;
		}
		return this.#marks;
	}

	/** Returns the marks that a chunk would have: a model is asked within a step. */
	beforeChunk(event: ChunkEvent): readonly BoundaryMark[] {
		this.#marks = [];
		if (event.type === "model_start") {
			this.#beginTurn();
			if (event.step > this.#step) this.#beginStep(event.step);
		}
		return this.#marks;
	}

	/** Records that an entry was folded. */
	after({ fact }: Entry, { run }: SessionState): void {
		if (fact.kind === "tool.settled") this.#cancelled ||= fact.outcome === "cancelled";
		if (fact.kind === "note" && fact.endsStep === true) this.#stepIs = "answered";
		if (fact.kind !== "assistant" && fact.kind !== "tool.settled") return;
		if (run?.unsettled === 0 && run.assistant?.continues !== true && this.#step > 0)
			this.#stepIs = "answered";
	}

	#beginRun(): void {
		this.#inputs = 0;
		this.#turn = "waits";
		this.#step = 0;
		this.#stepIs = "over";
		this.#cancelled = false;
	}

	#beginTurn(): void {
		if (this.#turn === "begun") return;
		this.#turn = "begun";
		this.#marks.push("turn_start");
	}

	#beginStep(step: number): void {
		if (this.#stepIs === "open" && step === this.#step) return;
		this.#endStep();
		this.#step = step;
		this.#stepIs = "open";
		this.#marks.push("step_start");
	}

	#endStep(): void {
		if (this.#stepIs !== "answered") return;
		this.#stepIs = "over";
		this.#marks.push("step_end");
	}
}

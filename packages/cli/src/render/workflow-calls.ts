/** The calls of a workflow's code, such as steps and waits, which its run records as notes. */
import type { RunEvent } from "holdfast";
import { formatDuration, oneLine, summarise } from "../terminal/index.ts";
import { type CallText, outcomeMarks } from "./lines.ts";

type NoteEvent = Extract<RunEvent, { type: "note" }>;

/** What a note of a workflow changes. */
export type WorkflowChange =
	| { readonly type: "began"; readonly id: string }
	| { readonly type: "ended"; readonly id: string; readonly call: CallText; readonly isDone: boolean }
	| { readonly type: "noted"; readonly text: string };

interface NoteValue {
	readonly id?: unknown;
	readonly does?: unknown;
	readonly value?: unknown;
	readonly message?: unknown;
	readonly attempt?: unknown;
	readonly error?: { readonly message?: unknown };
}

const widest = 120;

/** Reads the notes of workflows. Remembers when calls began, for the durations. */
export class WorkflowCalls {
	readonly #began = new Map<string, number>();

	/** Returns what a note changes; undefined for other notes. */
	read({ topic, value: given, at }: Pick<NoteEvent, "topic" | "value" | "at">): WorkflowChange | undefined {
		const { id: rawId, does, value, message, attempt, error } = (given ?? {}) as NoteValue;
		if (typeof rawId !== "string") return undefined;
		const id = oneLine(rawId, widest);
		switch (topic) {
			case "workflow-called":
				// A tool call of the code has events of its own.
				if (does === "tool") return undefined;
				this.#began.set(id, at);
				return { type: "began", id };
			case "workflow-settled": {
				const since = this.#began.get(id);
				if (since === undefined) return undefined;
				this.#began.delete(id);
				const isDone = error === undefined;
				const said = isDone ? summarise(value) : oneLine(String(error.message ?? ""), widest);
				const tail = ` · ${formatDuration(at - since)}${said === "" ? "" : ` · ${said}`}`;
				const mark = outcomeMarks[isDone ? "done" : "error"];
				return { type: "ended", id, call: { mark, head: id, tail }, isDone };
			}
			case "workflow-retried": {
				const why = error === undefined ? "" : `: ${oneLine(String(error.message ?? ""), widest)}`;
				return { type: "noted", text: `  ${id} failed in attempt ${String(attempt)}, trying again${why}` };
			}
			case "workflow-log":
				return { type: "noted", text: `  ${oneLine(String(message ?? ""), widest)}` };
			default:
				return undefined;
		}
	}
}

// The recorder of a pure call: assigns positions to facts and folds them, but stores nothing.
import type { Append, AppendResult } from "../host/index.ts";
import type { Recorder } from "./run-options.ts";

/** Creates the recorder. `committed` is called with each append, for callers that store it. */
export function ephemeralRecorder(committed?: (batch: Append) => void): Recorder {
	let seq = 0;
	return {
		append(batch: Append): AppendResult {
			seq += batch.facts.length;
			committed?.(batch);
			return { ok: true, seq };
		},
		inbox: () => [],
		keeps: committed === undefined ? "nothing" : "facts",
	};
}

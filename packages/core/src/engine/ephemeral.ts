// The recorder of a pure call: facts get their places and are folded, and nothing is kept here.
import type { Append, AppendResult } from "../host/index.ts";
import type { Recorder } from "./run-options.ts";

/** `committed` is called with what was appended, for those who keep it. */
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

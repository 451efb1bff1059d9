// The recorder of a pure call: facts get their places and are folded, and nothing is kept.
import type { Append, AppendResult } from "../host/index.ts";
import type { Recorder } from "./run-options.ts";

export function ephemeralRecorder(): Recorder {
	let seq = 0;
	return {
		append(batch: Append): AppendResult {
			seq += batch.facts.length;
			return { ok: true, seq };
		},
		inbox: () => [],
		keeps: "nothing",
	};
}

/** The offline model's mind: what to do next, given the conversation so far. Pure and deterministic. */
import { composeAnswer } from "./answers/index.ts";
import { type PlannedCall, planCalls } from "./retrieval.ts";
import type { Transcript } from "./transcript.ts";

/** Look something up, or answer. */
export type OfflineDecision =
	| { readonly kind: "calls"; readonly calls: readonly PlannedCall[] }
	| { readonly kind: "answer"; readonly text: string };

/** How often it may look something up before it must answer. */
const ROUNDS = 8;

/** What the model says it is, at the end of every answer. */
const SELF_DESCRIPTION =
	"(offline: lines extracted by search, no language model; set --model for a real one)";

/** Decides on the next step. `tools` are the names of the tools it was given. */
export function decide(transcript: Transcript, tools: ReadonlySet<string>): OfflineDecision {
	if (!["list_files", "search_text", "read_file"].every((name) => tools.has(name)))
		return answer(
			"I can only answer from files, and the tools list_files, search_text and read_file were not given to me.",
		);
	const calls = transcript.rounds < ROUNDS ? planCalls(transcript) : [];
	return calls.length > 0 ? { kind: "calls", calls } : answer(composeAnswer(transcript));
}

function answer(text: string): OfflineDecision {
	return { kind: "answer", text: `${text}\n\n${SELF_DESCRIPTION}` };
}

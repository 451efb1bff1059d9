// Cases from recorded conversations: the turns of a session.
import type { Host } from "holdfast";

/** One turn of a session. */
export interface RecordedCase {
	/** The text of the user's message. */
	readonly input: string;
	/** The agent's answer. */
	readonly output: string;
}

/**
 * Returns the completed turns of a session that have text, in order: inputs for scenarios, with their expected outputs.
 */
export async function recordedCases(host: Host, sessionKey: string): Promise<readonly RecordedCase[]> {
	const cases: RecordedCase[] = [];
	let input: string | undefined;
	let output = "";
	for (const { fact } of await host.journal.read(sessionKey)) {
		if (fact.kind === "run.started") [input, output] = [undefined, ""];
		else if (fact.kind === "input") input ??= fact.message.text;
		else if (fact.kind === "assistant" && fact.message.text !== "") output = fact.message.text;
		else if (
			fact.kind === "run.ended" &&
			fact.outcome === "completed" &&
			input !== undefined &&
			output !== ""
		)
			cases.push({ input, output });
	}
	return cases;
}

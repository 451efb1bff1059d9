// Commits the ends of steps (keeps I3).
import type { HoldfastError } from "@holdfast/upp";
import { commit, isTooLarge, type Run } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import type { RecordedError } from "./workflow-notes.ts";

/**
 * Commits the facts. `takesInputs`: also takes what other processes have accepted for the run. If the store refuses a
 * result because of its size, the code receives the error instead.
 */
export async function commitEnded(run: Run, facts: readonly Fact[], takesInputs: boolean): Promise<void> {
	try {
		if (takesInputs && (await run.commit(facts, { onlyIfNothingWaits: true }))) return;
		if (takesInputs) {
			await run.answers?.take(run, undefined);
			await run.inputs.fetch();
		}
		await commit(run, facts);
	} catch (error) {
		if (!isTooLarge(error)) throw error;
		for (const fact of facts) await commitOrRefusal(run, fact);
	}
}

async function commitOrRefusal(run: Run, fact: Fact): Promise<void> {
	try {
		await commit(run, [fact]);
	} catch (error) {
		const note = (fact.kind === "note" ? fact.value : {}) as EndedNote;
		if (!isTooLarge(error) || note.id === undefined || fact.kind !== "note") throw error;
		await commit(run, [{ ...fact, value: smallerNote(note, note.id, error as HoldfastError) }]);
	}
}

/** The note of a step that ended, or of an attempt. */
interface EndedNote {
	readonly id?: string;
	readonly value?: unknown;
	readonly error?: RecordedError;
	readonly inputId?: string;
}

/** Returns the note with an error in place of the result, or with a shorter message. */
function smallerNote(
	{ value: _, ...note }: EndedNote,
	id: string,
	{ code, message: refusal }: HoldfastError,
): EndedNote {
	if (note.error !== undefined) {
		const message = `${note.error.message.slice(0, 1_000).toWellFormed()}…`;
		return { ...note, error: { ...note.error, message } };
	}
	const what = note.inputId === undefined ? "The result of the step" : "The payload for the event";
	const hint =
		note.inputId === undefined
			? "The step has run. Write large data to a file, and return where it is."
			: "Send where the data is.";
	const message = `${what} ${JSON.stringify(id)} was not stored: ${refusal} ${hint}`;
	return { ...note, error: { code, message, retryable: false } };
}

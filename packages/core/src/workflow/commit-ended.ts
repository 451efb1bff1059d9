// Commits the ends of steps (keeps I3).
import { type HoldfastError, messageOf } from "@holdfast/upp";
import { commit, isTooLarge, type Run } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import { noteOf } from "./workflow-notes.ts";

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
		const { id, value } = (fact.kind === "note" ? fact.value : {}) as { id?: string; value?: unknown };
		if (!isTooLarge(error) || id === undefined || value === undefined) throw error;
		const { code } = error as HoldfastError;
		const message = `The result of the step ${JSON.stringify(id)} was not stored: ${messageOf(error)} The step has run. Write large data to a file, and return where it is.`;
		await commit(run, [noteOf.settled({ id, error: { code, message, retryable: false } })]);
	}
}

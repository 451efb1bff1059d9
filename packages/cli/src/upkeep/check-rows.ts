/** Shared by the checks of rows in every kind of store. */
import type { Counts } from "./finding.ts";

/** Returns counts of zero. */
export function noCounts(): Counts {
	const file = { bytes: 0, freeBytes: 0, hidden: 0, workers: 0 };
	const said = { sessions: 0, openRuns: 0, chunks: 0, entries: 0, runs: 0, folded: 0 };
	return { ...file, ...said, inputs: 0, dedupe: 0, values: 0, records: 0, timers: 0, files: 0 };
}

/** The valid kinds of inputs. */
export const inputKinds: ReadonlySet<string> = new Set([
	"message",
	"steer",
	"stop",
	"edit",
	"tool-result",
	"approval",
	"timer",
	"notice",
]);

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
	return isRead(() => JSON.parse(text));
}

/** Whether something can be read. */
export function isRead(read: () => unknown): boolean {
	return safely(false, () => {
		read();
		return true;
	});
}

/** Returns the result of an attempt, or a substitute if it fails. */
export function safely<T>(otherwise: T, attempt: () => T): T {
	try {
		return attempt();
	} catch {
		return otherwise;
	}
}

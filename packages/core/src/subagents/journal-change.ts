// Waiting for something to happen to a session, by whomever.
import type { SessionTable } from "../sessions/index.ts";

/** Milliseconds after which to check again without a notification: a dead worker sends none. */
const lookAgainAfter = 250;
/** The same if the session waits for an outside answer, which requires no live worker. */
export const whileItWaits = 30_000;

/** A wait that began when it was made, so that what happens between looking and waiting is not missed. */
export interface Change {
	/** Settles when the session changed, may have, or the signal fired. Never rejects. */
	readonly happened: Promise<void>;
	cancel(): void;
}

/** Begins to wait. */
export function journalChange(
	{ journal, timers }: Pick<SessionTable, "journal" | "timers">,
	storeKey: string,
	signal: AbortSignal,
	again: number = lookAgainAfter,
): Change {
	let cancel = (): void => {};
	const happened = new Promise<void>((resolve) => {
		const stop = journal.watch(storeKey, () => cancel());
		const callOff = timers.after(again, () => cancel());
		cancel = () => {
			stop();
			callOff();
			signal.removeEventListener("abort", cancel);
			resolve();
		};
		signal.addEventListener("abort", cancel, { once: true });
		if (signal.aborted) cancel();
	});
	return { happened, cancel: () => cancel() };
}

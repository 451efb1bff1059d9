// Waits for a change in a session by any process.
import type { SessionTable } from "../sessions/index.ts";

/** Milliseconds after which to check again without a notification, because a dead worker sends none. */
const lookAgainAfter = 250;
/** How long to wait if the session itself waits for an outside answer, which requires no living worker. */
export const whileItWaits = 30_000;

/** A wait that starts when it is created, so that no change between reading and waiting is missed. */
export interface Change {
	/** Settles when the session has changed or may have changed, or the signal fires. Never rejects. */
	readonly happened: Promise<void>;
	cancel(): void;
}

/** Starts to wait. */
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

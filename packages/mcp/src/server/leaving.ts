// Clients that disconnected in the middle of a call: the call is stopped unless they return for it in time.
import { startTimer } from "@holdfast/upp";

export class Leaving {
	readonly #timers = new Map<string, () => void>();

	/** Stops the run after some milliseconds, or at once. */
	left(sessionId: string, afterMs: number, stop: () => void): void {
		this.cameBack(sessionId);
		if (afterMs === 0) {
			stop();
			return;
		}
		const late = (): void => {
			this.#timers.delete(sessionId);
			stop();
		};
		this.#timers.set(sessionId, startTimer(afterMs, late, { process: "release" }));
	}

	/** A client waits for the call again. */
	cameBack(sessionId: string): void {
		this.#timers.get(sessionId)?.();
		this.#timers.delete(sessionId);
	}

	/** Does not stop the abandoned runs: the process that continues the sessions finishes them. */
	close(): void {
		for (const sessionId of [...this.#timers.keys()]) this.cameBack(sessionId);
	}
}

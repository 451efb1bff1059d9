// The scripts of a process that wait for outcomes of their calls. A script in memory continues where it stopped. A script
// that was dropped runs again from its record, so any of them may be dropped at any time.
import type { Script } from "./script.ts";
import type { LoggedRecord } from "./script-log.ts";

/** A script, and the last record that it has received. */
export interface RunningScript {
	readonly script: Script;
	readonly last: LoggedRecord | undefined;
}

/** A waiting script occupies a thread of its sandbox. */
const maxKept = 16;
/** Milliseconds after which a script that waits is dropped, as it does when a person has to approve a call. */
const keptMs = 5_000;

export class RunningScripts {
	/** In the order in which they began to wait. */
	readonly #kept = new Map<string, RunningScript & { readonly timer: NodeJS.Timeout }>();

	/** Returns a script and stops keeping it. */
	take(runId: string): RunningScript | undefined {
		const kept = this.#kept.get(runId);
		if (kept === undefined) return undefined;
		clearTimeout(kept.timer);
		this.#kept.delete(runId);
		return kept;
	}

	keep(runId: string, running: RunningScript): void {
		this.#drop(runId);
		const timer = setTimeout(() => this.#drop(runId), keptMs).unref();
		this.#kept.set(runId, { ...running, timer });
		const [oldest] = this.#kept.keys();
		if (this.#kept.size > maxKept && oldest !== undefined) this.#drop(oldest);
	}

	#drop(runId: string): void {
		this.take(runId)?.script.stop();
	}
}

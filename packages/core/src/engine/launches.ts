// Starts the functions of a round's calls once their starts are recorded and emitted.
import type { CallInRound } from "./call-in-round.ts";
import type { Run } from "./run.ts";

export interface StartsFunctions {
	/** Starts one function. Returns false if no further one may start. */
	startFunction(each: CallInRound): boolean;
	failed(error: unknown): void;
}

export class Launches {
	readonly #run: Run;
	readonly #round: StartsFunctions;
	/** The next calls to start while others are being started. */
	#starting: CallInRound[] | undefined;

	constructor(run: Run, round: StartsFunctions) {
		this.#run = run;
		this.#round = round;
	}

	/** The list must not be shared. */
	launch(launches: CallInRound[]): void {
		if (launches.length === 0) return;
		const heard = this.#run.ready("heard");
		if (heard === undefined) this.#startAll(launches);
		else heard.then(() => this.#startAll(launches)).catch((error) => this.#round.failed(error));
	}

	/** A call that settles at once may allow others to start: they start after it and not nested inside it. */
	#startAll(launches: CallInRound[]): void {
		if (this.#starting !== undefined) {
			this.#starting.push(...launches);
			return;
		}
		this.#starting = launches;
		try {
			this.#run.checkLease();
			for (const each of launches) if (!this.#round.startFunction(each)) return;
		} finally {
			this.#starting = undefined;
		}
	}
}

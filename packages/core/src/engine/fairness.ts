// Makes runs yield to the event loop regularly (keeps I8). If a model and its tools answer immediately, a run never
// leaves the microtask queue: while it works, no timer fires, no abort arrives and no request is read. Yielding
// runs continue one after the other, each until it waits again. If they advanced in lockstep, promise by promise, their
// intermediate objects would all be alive at once and most of the time would go into garbage collection. All runs that
// share a clock share one object, because what counts is how long the process has worked without a break.
import { type Ports, systemPorts } from "../host/index.ts";

/** Milliseconds of continuous work after which a run waits for the event loop. */
const unbroken = 10;
/** How many waiting runs continue in one turn of the event loop, if they take less than that time. */
const inOneTurn = 64;
/** How many pieces of work may begin in one turn of the event loop before further ones wait for each other. */
const atOnce = 8;

export class Fairness {
	readonly #ports: Pick<Ports, "clock" | "eventLoop">;
	/** When the work since the last turn of the event loop began; undefined if unknown. */
	#since: number | undefined;
	/** The waiting runs, in order, from `#first` on. */
	readonly #waiting: (() => void)[] = [];
	#first = 0;
	/** How many of them are due in the next turn. */
	#due = 0;
	/** Pieces of work that began since the last turn of the event loop. */
	#begun = 0;
	readonly #turned = (): void => {
		this.#since = undefined;
		this.#begun = 0;
	};
	readonly #continue = (): void => {
		this.#due--;
		if (!this.#isOverdue()) this.#waiting[this.#first++]?.();
		if (this.#first === inOneTurn || this.#first === this.#waiting.length) {
			this.#waiting.splice(0, this.#first);
			this.#first = 0;
		}
		this.#schedule();
	};

	constructor(ports: Pick<Ports, "clock" | "eventLoop">) {
		this.#ports = ports;
	}

	/** Settles when the event loop has turned; undefined if it turned recently. Called before each piece of work. */
	pause(): Promise<void> | undefined {
		return this.#isOverdue() ? this.turn() : undefined;
	}

	/** Called before a run begins: if many begin at once, all but the first few wait for those before them. */
	begin(): Promise<void> | undefined {
		this.#isOverdue(); // from here on, the turn of the event loop is tracked
		return ++this.#begun > atOnce ? this.turn() : undefined;
	}

	/** Settles when the runs that waited earlier can make no more progress without I/O. */
	turn(): Promise<void> {
		return new Promise((resolve) => {
			this.#waiting.push(resolve);
			this.#schedule();
		});
	}

	#schedule(): void {
		if (this.#due >= inOneTurn || this.#due >= this.#waiting.length - this.#first) return;
		this.#due++;
		this.#ports.eventLoop.nextTurn(this.#continue);
	}

	/** Whether the process has worked continuously for too long. */
	#isOverdue(): boolean {
		const now = this.#ports.clock.monotonic();
		if (this.#since !== undefined) return now - this.#since >= unbroken;
		this.#since = now;
		this.#ports.eventLoop.whenTurned(this.#turned);
		return false;
	}
}

const systemFairness = new Fairness(systemPorts);

/** Returns the object shared by all runs that use the system clock, or a separate one for other clocks (keeps I6). */
export function fairnessOf({ clock, eventLoop }: Ports): Fairness {
	const isSystem = clock === systemPorts.clock && eventLoop === systemPorts.eventLoop;
	return isSystem ? systemFairness : new Fairness({ clock, eventLoop });
}

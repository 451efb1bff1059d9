// Requests of a process to the store: they run and are answered when the scheduler decides, or never.
import { attempt, HoldfastError } from "@holdfast/upp";
import type { MaybePromise } from "holdfast/host";
import type { PlantedFault } from "./planted-faults.ts";
import type { Owner, Schedule } from "./schedule.ts";

/** The process and its store. */
export interface OperationsOptions {
	readonly schedule: Schedule;
	readonly owner: Owner;
	/** Whether the store answers at once, like the one in memory, or later. */
	readonly answers: "at-once" | "in-time";
	/** Whether the store fails this time. */
	readonly fails: () => boolean;
	readonly planted: PlantedFault | undefined;
}

/** How an operation is scheduled. */
export interface Waiting {
	readonly lane?: Lanes;
	/** `writes`: it may still succeed after the process has stopped or died. */
	readonly kind: "reads" | "writes";
	/** Usually answered at once, otherwise when it runs: many records are read for each one written. */
	readonly answered?: "mostly-at-once";
}

/** Operations that run in the order in which they were requested. */
export interface Lanes {
	readonly carryingOut: object;
	readonly answering: object;
}

/** Runs an operation and returns its answer. */
export type Operation = <T>(
	what: string,
	carryOut: () => MaybePromise<T>,
	waiting: Waiting,
) => MaybePromise<T>;

/** Steps that write; some steps of a dying process may still succeed. */
export const writing: WeakSet<object> = new WeakSet();

/** Creates the operations of one process. */
export function makeOperation(options: OperationsOptions): Operation {
	const { schedule, owner, planted } = options;

	function operation<T>(
		what: string,
		carryOut: () => MaybePromise<T>,
		{ lane, kind, answered }: Waiting,
	): MaybePromise<T> {
		const label = `${owner.name}: ${what}`;
		const isSmall = answered === "mostly-at-once";
		if (options.answers === "at-once" || (isSmall && schedule.random.chance(0.75))) {
			schedule.note(label);
			refuseAtTimes(kind);
			return carryOut();
		}
		return new Promise<T>((resolve, reject) => {
			const refused = (error: unknown): void => {
				schedule.note(`${label}: refused, ${(error as { code?: string }).code}`);
				answerWith(() => reject(error));
			};
			const run = (): MaybePromise<void> =>
				attempt(
					() => {
						refuseAtTimes(kind);
						return carryOut();
					},
					(value) => answerWith(() => resolve(value)),
					refused,
				);
			const answerWith = (answer: () => void): void => {
				if (isSmall) {
					answer();
					return;
				}
				const answering = lane === undefined ? {} : { lane: lane.answering };
				schedule.add({ label: `${label} answered`, owner, run: answer, ...answering });
			};
			const underWay = kind === "writes" ? ({ underWay: true } as const) : {};
			const inLane = lane === undefined || planted === "reordered-appends" ? {} : { lane: lane.carryingOut };
			const step = { label, owner, run, ...underWay, ...inLane };
			if (kind === "writes") writing.add(step);
			schedule.add(step);
		});
	}

	function refuseAtTimes(kind: Waiting["kind"]): void {
		if (kind === "writes" && options.fails())
			throw new HoldfastError("journal_failed", "The simulated store failed.", { retryable: true });
	}

	return operation;
}

// Shared commits: the appends of many sessions in one turn of the event loop are one transaction (keeps I3, I7). A
// transaction starts and ends within one synchronous call, so none stays open across an await. If it fails as a whole, it
// is retried session by session, so that one failure does not affect others. Waiting for another process's lock uses
// timers and never blocks.
import { isHoldfastError } from "@holdfast/upp";
import type { SqlConnection } from "./connection.ts";
import { isBusy, journalError } from "./sqlite-errors.ts";

/** An operation to commit. */
export interface Operation {
	/** Operations of one lane depend on each other, in order: if one fails or loses its lease, so do the later ones. */
	readonly lane: unknown;
	/**
	 * Reads and writes within the transaction. May be called again after `undo`. A HoldfastError thrown before the first
	 * write refuses only this operation.
	 */
	apply(): void;
	/** Reverts the changes that `apply` made in memory, because its transaction was rolled back. */
	undo(): void;
	committed(): void;
	failed(error: Error): void;
}

/** The queue of operations of one connection. */
export interface SharedCommits {
	/** Adds an operation to the next transaction. */
	add(operation: Operation): void;
	/** Resolves when nothing is in progress. */
	drained(): Promise<void>;
	/** Number of transactions committed so far. */
	readonly transactions: number;
}

/** Milliseconds to wait for another process's lock, per attempt; the last value repeats. */
const pauses = [0, 1, 1, 2, 2, 5, 5, 10, 20];
/** Milliseconds after which a lock that is never released is an error. */
const patience = 30_000;

/** Runs after everything that is ready now, if the platform has a hook for it; otherwise with the next timer. */
const soon: (work: () => void) => unknown =
	(globalThis as Partial<typeof globalThis>).setImmediate ?? ((work) => setTimeout(work, 0));

/** Creates the queue of a connection. `check` is called before each transaction, which fails if it throws. */
export function shareCommits(connection: SqlConnection, check: () => void = () => {}): SharedCommits {
	let queue: Operation[] = [];
	let scheduled = false;
	let attempts = 0;
	let busySince = 0;
	let transactions = 0;
	let waiters: (() => void)[] = [];

	function schedule(): void {
		scheduled = true;
		const pause = attempts === 0 ? 0 : (pauses[Math.min(attempts, pauses.length) - 1] ?? 0);
		if (pause === 0) soon(flush);
		else setTimeout(flush, pause);
	}

	function flush(): void {
		scheduled = false;
		const batch = queue;
		queue = [];
		if (batch.length > 0) commitAll(batch);
		if (queue.length > 0 && !scheduled) schedule();
		if (queue.length === 0) {
			for (const resolve of waiters) resolve();
			waiters = [];
		}
	}

	function commitAll(batch: readonly Operation[]): void {
		const refused = new Map<Operation, Error>();
		const outcome = transact(batch, refused);
		if (outcome === "busy") putBack(batch);
		else if (outcome === "committed")
			for (const operation of batch) settle(operation, refused.get(operation));
		else commitLanes(lanesOf(batch));
	}

	function commitLanes(lanes: readonly (readonly Operation[])[]): void {
		for (const [index, lane] of lanes.entries()) {
			const refused = new Map<Operation, Error>();
			const outcome = transact(lane, refused);
			if (outcome === "busy") {
				putBack(lanes.slice(index).flat());
				return;
			}
			const error = outcome === "committed" ? undefined : journalError(outcome.error);
			for (const operation of lane) settle(operation, error ?? refused.get(operation));
		}
	}

	/** Runs one transaction, all or nothing. Refusals are collected and do not affect the other operations. */
	function transact(
		batch: readonly Operation[],
		refused: Map<Operation, Error>,
	): "committed" | "busy" | { readonly error: unknown } {
		const lanesLost = new Map<unknown, Error>();
		let applied = 0;
		let began = false;
		const applyAll = (): void => {
			began = true;
			for (; applied < batch.length; applied++) {
				const operation = batch[applied] as Operation;
				const lost = lanesLost.get(operation.lane);
				if (lost !== undefined) {
					refused.set(operation, lost);
					continue;
				}
				try {
					operation.apply();
				} catch (error) {
					if (!isHoldfastError(error)) throw error;
					refused.set(operation, error);
					if (error.code === "lease_lost") lanesLost.set(operation.lane, error);
				}
			}
		};
		try {
			check();
			connection.atomically(applyAll);
			transactions++;
			attempts = 0;
			return "committed";
		} catch (error) {
			if (began)
				for (let index = Math.min(applied, batch.length - 1); index >= 0; index--) batch[index]?.undo();
			return isBusy(error) ? "busy" : { error };
		}
	}

	function putBack(batch: readonly Operation[]): void {
		const now = performance.now();
		if (attempts++ === 0) busySince = now;
		if (now - busySince > patience) {
			attempts = 0;
			const error = journalError(Object.assign(new Error("database is locked"), { errcode: 5 }));
			for (const operation of batch) operation.failed(error);
			return;
		}
		queue = [...batch, ...queue];
		schedule();
	}

	return {
		add(operation) {
			queue.push(operation);
			if (!scheduled) schedule();
		},
		async drained() {
			if (queue.length === 0 && !scheduled) return;
			await new Promise<void>((resolve) => waiters.push(resolve));
		},
		get transactions() {
			return transactions;
		},
	};
}

function settle(operation: Operation, refusal: Error | undefined): void {
	if (refusal === undefined) operation.committed();
	else operation.failed(refusal);
}

/** Groups the operations by lane, each in order, with lanes in the order of their first operation. */
function lanesOf(batch: readonly Operation[]): readonly (readonly Operation[])[] {
	const lanes = new Map<unknown, Operation[]>();
	for (const operation of batch) {
		const lane = lanes.get(operation.lane);
		if (lane === undefined) lanes.set(operation.lane, [operation]);
		else lane.push(operation);
	}
	return [...lanes.values()];
}

// The journal of a process: its requests run and are answered when the scheduler decides, or never.
import { after, guarded } from "@holdfast/upp";
import type { Append, AppendResult, Journal, Lease, MaybePromise } from "holdfast/host";
import type { Lanes, Operation } from "./operations.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { Owner, Schedule } from "./schedule.ts";
import type { StoreAccess } from "./store-access.ts";

/** The parts of a simulated journal. */
export interface SimulatedJournalOptions {
	readonly schedule: Schedule;
	readonly owner: Owner;
	readonly workerId: string;
	readonly access: StoreAccess;
	readonly operation: Operation;
	/** Whether the store can fold. */
	readonly folds: boolean;
	readonly planted: PlantedFault | undefined;
}

/** Creates a journal whose answers are steps of the schedule. */
export function simulatedJournal(options: SimulatedJournalOptions): Journal {
	const { schedule, owner, access, planted, operation, folds } = options;

	function leaseOf(inner: Lease): Lease {
		let lost = false;
		let notify: (() => void) | undefined;
		const lane: Lanes = { carryingOut: {}, answering: {} };
		const hears = (): void => {
			if (lost) return;
			lost = true;
			notify?.();
		};
		access.whenLost(inner, () => {
			schedule.add({
				label: `${owner.name}: hears that its lease on ${inner.key} is lost`,
				owner,
				run: hears,
			});
		});
		let forecast = inner.seq;
		const failed = (error: unknown): never => {
			lost = true;
			throw error;
		};
		const append = (batch: Append): MaybePromise<AppendResult> =>
			guarded(() => access.append(inner, batch), failed);
		return {
			key: inner.key,
			seq: inner.seq,
			...(inner.openRunId === undefined ? {} : { openRunId: inner.openRunId }),
			get epoch() {
				return inner.epoch;
			},
			get isLost() {
				return lost;
			},
			whenLost(given) {
				notify = given;
			},
			append(batch) {
				const what = `commits to ${inner.key} ${batch.facts.map((fact) => fact.kind).join(", ")}`;
				const appended = operation(what, () => append(batch), { lane, kind: "writes" });
				if (planted !== "acknowledged-before-commit") return appended;
				if (appended instanceof Promise) appended.catch(() => {});
				forecast += batch.facts.length;
				return { ok: true, seq: forecast };
			},
			inbox: () =>
				operation(`looks into the inbox of ${inner.key}`, () => access.inbox(inner.key), {
					lane,
					kind: "reads",
				}),
			release() {
				lost = true;
				return operation(`gives ${inner.key} up`, () => access.release(inner), { lane, kind: "writes" });
			},
		};
	}

	return {
		name: "simulated",
		...(folds ? { folds } : {}),
		workerId: options.workerId,
		acquire(key, { mode = "polite" } = {}) {
			const acquired = operation(
				`${mode === "seize" ? "seizes" : "takes"} ${key}`,
				() =>
					after(access.acquire(key, mode), (result) =>
						result.ok ? { ...result, lease: leaseOf(result.lease) } : result,
					),
				{ kind: "reads" },
			);
			return acquired;
		},
		submit: (key, input) =>
			operation(`submits a ${input.kind} to ${key}`, () => access.submit(key, input), { kind: "writes" }),
		inbox: (key) => operation(`looks into the inbox of ${key}`, () => access.inbox(key), { kind: "reads" }),
		read: (key, options) => operation(`reads ${key}`, () => access.read(key, options), { kind: "reads" }),
		head: (key) => operation(`looks at ${key}`, () => access.head(key), { kind: "reads" }),
		list: (options) => operation("lists sessions", () => access.list(options), { kind: "reads" }),
		isAlive: (workerId) =>
			operation(`asks whether ${workerId} lives`, () => access.isAlive(workerId), { kind: "reads" }),
		fork: (from, to, until) =>
			operation(`forks ${from} to ${to}`, () => access.fork(from, to, until), { kind: "writes" }),
		delete: (key, seen) => operation(`deletes ${key}`, () => access.delete(key, seen), { kind: "writes" }),
		watch(key, changed) {
			let isScheduled = false;
			let stopped = false;
			const run = (): void => {
				isScheduled = false;
				if (!stopped) changed();
			};
			const stop = access.watch(key, () => {
				if (isScheduled || planted === "lost-wake-up") return;
				isScheduled = true;
				schedule.add({ label: `${owner.name}: hears of a change in ${key}`, owner, run });
			});
			return () => {
				stopped = true;
				stop();
			};
		},
		close() {},
	};
}

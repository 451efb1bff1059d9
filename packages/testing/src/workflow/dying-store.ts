// Workers over one store in memory. A worker dies at an append: it stops before or after it for good, and the others consider
// it dead.
import type { Host } from "holdfast";
import {
	type Append,
	type Journal,
	journalHost,
	type Lease,
	type MemoryJournal,
	memoryJournal,
} from "holdfast/host";
import type { WorkflowCrash } from "./run-workflow.ts";

/** A worker that may die. */
export interface DyingWorker {
	/** The store as this worker sees it. */
	readonly host: Host;
	/** Resolves when it dies. */
	readonly died: Promise<"died">;
	/** From now on, the others take it for dead. */
	die(): void;
}

/** A store, and its workers so far. */
export class DyingStore {
	readonly #first: MemoryJournal;
	#workers = 0;
	/** How many appends all workers have made. */
	appends = 0;

	constructor(clock?: { now(): number }) {
		this.#first = memoryJournal({ workerId: "reader", ...(clock === undefined ? {} : { clock }) });
	}

	get journal(): MemoryJournal {
		return this.#first;
	}

	/** Adds a worker. */
	worker(death?: WorkflowCrash): DyingWorker {
		const own = this.#first.worker(`worker ${++this.#workers}`);
		let dies = (): void => {};
		const died = new Promise<"died">((resolve) => {
			dies = () => {
				own.die();
				resolve("died");
			};
		});
		let count = 0;
		const wrapped = (lease: Lease): Lease =>
			new Proxy(lease, {
				get: (target, name) => {
					const value = Reflect.get(target, name, target);
					if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
					return (batch: Append) => {
						count++;
						const isLast = count === death?.at;
						if (death !== undefined && count > death.at) return never;
						if (isLast && death.when === "before") {
							dies();
							return never;
						}
						this.appends++;
						const result = target.append(batch);
						if (!isLast) return result;
						dies();
						return never;
					};
				},
			});
		const journal: Journal = {
			...own,
			acquire: (key, options) => {
				const acquired = own.acquire(key, options) as Awaited<ReturnType<Journal["acquire"]>>;
				return acquired.ok ? { ...acquired, lease: wrapped(acquired.lease) } : acquired;
			},
		};
		return { host: journalHost(journal), died, die: () => own.die() };
	}
}

const never: Promise<never> = new Promise(() => {});

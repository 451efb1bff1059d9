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

/**
 * An in-memory store for several workers. One of them dies at an append that you choose. Test with it that the others
 * continue its work.
 *
 * @example
 * ```ts
 * import { DyingStore, scriptedModel } from "@holdfast/testing";
 * import { Agent } from "holdfast";
 *
 * const store = new DyingStore();
 * const first = store.worker({ at: 2, when: "before" });
 * const clerk = (host: typeof first.host) => new Agent({ model: scriptedModel(() => "Hello."), host }).session("one");
 * const run = await clerk(first.host).send("Hi");
 * void run.result();
 * await first.died;
 * const resumed = await clerk(store.worker().host).resume();
 * console.log((await resumed?.result())?.text); // Hello.
 * ```
 */
export class DyingStore {
	readonly #first: MemoryJournal;
	#workers = 0;
	/** How many appends all workers have made. */
	appends = 0;

	/** `clock` is that of the store. Default: the system's. */
	constructor(clock?: { now(): number }) {
		this.#first = memoryJournal({ workerId: "reader", ...(clock === undefined ? {} : { clock }) });
	}

	/** The journal, to read what is stored. */
	get journal(): MemoryJournal {
		return this.#first;
	}

	/** Adds a worker. It dies at the append `death`. Default: it does not die by itself. */
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
						if (death === undefined || count < death.at) {
							this.appends++;
							return target.append(batch);
						}
						if (count > death.at) return never;
						try {
							if (death.when === "after") {
								this.appends++;
								target.append(batch);
							}
						} catch {
							// It dies although another worker has the session by now.
						}
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

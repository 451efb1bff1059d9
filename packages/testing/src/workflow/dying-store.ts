// Workers over one store in memory, of which one dies at an append: it stops there for good, and the others take over.
import type { Host } from "holdfast";
import { type Journal, journalHost, type MemoryJournal, memoryJournal } from "holdfast/host";
import type { WorkflowCrash } from "./run-workflow.ts";

/** A store in memory for several workers. */
export interface DyingStore {
	/** Adds a worker. `died` resolves when it dies. */
	worker(crash: WorkflowCrash | undefined): { readonly host: Host; readonly died: Promise<"died"> };
	/** How many appends all workers have made. */
	appends(): number;
	/** Position of the last entry of a session; undefined if there is no such session. */
	lastSeq(key: string): number | undefined;
}

type Lease = Extract<Awaited<ReturnType<Journal["acquire"]>>, { readonly ok: true }>["lease"];

const never: Promise<never> = new Promise(() => {});

export function dyingStore(clock: { now(): number }): DyingStore {
	const first = memoryJournal({ workerId: "reader", clock });
	let workers = 0;
	let appends = 0;
	return {
		appends: () => appends,
		lastSeq: (key) => first.head(key)?.seq,
		worker(crash) {
			const own = first.worker(`worker ${++workers}`);
			const { promise: died, resolve } = Promise.withResolvers<"died">();
			const append = dying(crash, () => {
				own.die();
				resolve("died");
			});
			const counted = (lease: Lease): Lease =>
				withAppend(lease, (batch) =>
					append(() => {
						appends++;
						return lease.append(batch);
					}),
				);
			const journal: Journal = {
				...own,
				acquire(key, options) {
					const acquired = own.acquire(key, options) as Awaited<ReturnType<MemoryJournal["acquire"]>>;
					return acquired.ok ? { ...acquired, lease: counted(acquired.lease) } : acquired;
				},
			};
			return { host: journalHost(journal), died };
		},
	};
}

/** Returns a function that makes appends, until the worker dies. */
function dying(
	crash: WorkflowCrash | undefined,
	die: () => void,
): (append: () => ReturnType<Lease["append"]>) => ReturnType<Lease["append"]> {
	let count = 0;
	return (append) => {
		count++;
		if (crash === undefined || count < crash.at) return append();
		if (count === crash.at) {
			if (crash.when === "after") append();
			die();
		}
		return never;
	};
}

function withAppend(lease: Lease, append: Lease["append"]): Lease {
	return new Proxy(lease, {
		get(target, name) {
			if (name === "append") return append;
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

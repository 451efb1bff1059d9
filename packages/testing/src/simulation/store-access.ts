// What a process does to the store, each thing at one instant, and seen by the ledger. Faults are planted above it.

import type {
	AcquireResult,
	Append,
	AppendResult,
	Entry,
	Input,
	Lease,
	ListOptions,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "holdfast";
import type { MemoryJournal } from "holdfast/host";
import type { Ledger } from "./ledger.ts";

/** The store, as far as one process reaches. */
export interface StoreAccess {
	acquire(key: string, mode: "polite" | "seize"): AcquireResult;
	append(lease: Lease, batch: Append): AppendResult;
	inbox(key: string): readonly StoredInput[];
	release(lease: Lease): void;
	submit(key: string, input: Input): { readonly duplicate: boolean; readonly order: number };
	read(key: string, options?: ReadOptions): readonly Entry[];
	head(key: string): SessionHead | undefined;
	list(options?: ListOptions): readonly SessionHead[];
	isAlive(workerId: string): boolean;
	watch(key: string, changed: () => void): () => void;
	fork(from: string, to: string, until: number): void;
	delete(key: string, seen?: Pick<SessionHead, "epoch" | "seq">): void;
}

/** The process that reaches for the store. */
export interface StoreUser {
	readonly name: string;
	/** Its worker in the store; another one after its lease had lapsed. */
	readonly worker: MemoryJournal;
}

/** The leases that appended last, by session. */
export type Holders = Map<string, Lease>;

/** The store in memory answers at once; its port only says that it may. */
function atOnce<T>(answer: T | Promise<T>): T {
	return answer as T;
}

/** The store as it is. */
export function plainAccess(user: StoreUser, ledger: Ledger, holders: Holders): StoreAccess {
	return {
		acquire: (key, mode) => atOnce(user.worker.acquire(key, { mode })),
		append(lease, batch) {
			const result = atOnce(lease.append(batch));
			if (!result.ok) return result;
			holders.set(lease.key, lease);
			ledger.appended(lease.key, user.name, lease.epoch, batch);
			return result;
		},
		inbox: (key) => atOnce(user.worker.inbox(key)),
		release: (lease) => atOnce(lease.release()),
		submit: (key, input) => atOnce(user.worker.submit(key, input)),
		read: (key, options) => atOnce(user.worker.read(key, options)),
		head: (key) => atOnce(user.worker.head(key)),
		list: (options) => atOnce(user.worker.list(options)),
		isAlive: (workerId) => atOnce(user.worker.isAlive(workerId)),
		watch: (key, changed) => user.worker.watch(key, changed),
		fork(from, to, until) {
			atOnce(user.worker.fork(from, to, until));
			ledger.forked(from, to);
		},
		delete(key, seen) {
			atOnce(user.worker.delete(key, seen));
			holders.delete(key);
			ledger.deleted(key);
		},
	};
}

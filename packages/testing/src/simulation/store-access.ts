// The store operations of a process, each atomic, as the ledger sees them. Faults are planted above this layer.

import { after } from "@holdfast/upp";
import type {
	AcquireResult,
	Append,
	AppendResult,
	Entry,
	Input,
	Journal,
	Lease,
	ListOptions,
	MaybePromise,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { News } from "./news.ts";

type Submitted = { readonly duplicate: boolean; readonly order: number };

/** The store operations available to a process. */
export interface StoreAccess {
	acquire(key: string, mode: "polite" | "seize"): MaybePromise<AcquireResult>;
	append(lease: Lease, batch: Append): MaybePromise<AppendResult>;
	inbox(key: string): MaybePromise<readonly StoredInput[]>;
	release(lease: Lease): MaybePromise<void>;
	submit(key: string, input: Input): MaybePromise<Submitted>;
	read(key: string, options?: ReadOptions): MaybePromise<readonly Entry[]>;
	head(key: string): MaybePromise<SessionHead | undefined>;
	list(options?: ListOptions): MaybePromise<readonly SessionHead[]>;
	isAlive(workerId: string): MaybePromise<boolean>;
	watch(key: string, changed: () => void): () => void;
	whenLost(lease: Lease, lost: () => void): void;
	fork(from: string, to: string, until: number): MaybePromise<void>;
	delete(key: string, seen?: Pick<SessionHead, "epoch" | "seq">): MaybePromise<void>;
}

/** The same with a synchronous store. */
export interface AccessAtOnce extends StoreAccess {
	acquire(key: string, mode: "polite" | "seize"): AcquireResult;
	append(lease: Lease, batch: Append): AppendResult;
	inbox(key: string): readonly StoredInput[];
	submit(key: string, input: Input): Submitted;
	read(key: string, options?: ReadOptions): readonly Entry[];
	list(options?: ListOptions): readonly SessionHead[];
}

/** The process that uses the store. */
export interface StoreUser {
	readonly name: string;
	/** Its worker in the store; a new one after its lease has lapsed. */
	readonly worker: Journal;
	/** Called when the store has executed a write of this process, even if it died since. */
	wrote(): void;
}

/** The last lease that appended, by session. */
export type Holders = Map<string, Lease>;

/** Observers of the store in addition to the process. */
export interface Onlookers {
	readonly ledger: Ledger;
	readonly holders: Holders;
	/** Gives the checks access to the store. */
	readonly observer: Journal;
	/** Absent if the store itself notifies at once. */
	readonly news: News | undefined;
}

/** The unmodified store. */
export function plainAccess(user: StoreUser, { ledger, holders, observer, news }: Onlookers): StoreAccess {
	function seeAppend(lease: Lease, batch: Append): MaybePromise<void> {
		const { key, epoch } = lease;
		if (batch.replaces !== undefined)
			return after(observer.read(key), (kept) => ledger.folded(key, user.name, epoch, batch, kept));
		const { length } = ledger.life(key).entries;
		return after(observer.read(key, { after: length }), (added) =>
			after(observer.inbox(key), (waiting) =>
				ledger.appended(key, user.name, epoch, batch, { added, waiting }),
			),
		);
	}
	return {
		acquire: (key, mode) => user.worker.acquire(key, { mode }),
		append: (lease, batch) =>
			after(lease.append(batch), (result) => {
				user.wrote();
				if (!result.ok) return result;
				holders.set(lease.key, lease);
				news?.appended(lease);
				return after(seeAppend(lease, batch), () => result);
			}),
		inbox: (key) => user.worker.inbox(key),
		release: (lease) => lease.release(),
		submit: (key, input) =>
			after(user.worker.submit(key, input), (submitted) => {
				user.wrote();
				if (!submitted.duplicate) news?.changed(key);
				return submitted;
			}),
		read: (key, options) => user.worker.read(key, options),
		head: (key) => user.worker.head(key),
		list: (options) => user.worker.list(options),
		isAlive: (workerId) => user.worker.isAlive(workerId),
		watch: (key, changed) => (news ?? user.worker).watch(key, changed),
		whenLost: (lease, lost) => (news === undefined ? lease.whenLost(lost) : news.listen(lease, lost)),
		fork: (from, to, until) =>
			after(user.worker.fork(from, to, until), () =>
				after(observer.read(to), (kept) => {
					user.wrote();
					news?.changed(to);
					ledger.forked(from, to, kept);
				}),
			),
		delete: (key, seen) =>
			after(user.worker.delete(key, seen), () =>
				after(observer.head(key), (left) => {
					user.wrote();
					holders.delete(key);
					news?.deleted(key);
					ledger.deleted(key, left);
				}),
			),
	};
}

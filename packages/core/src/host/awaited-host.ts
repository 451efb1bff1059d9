// A host that becomes available later: an agent's plugins may choose where sessions are stored, or the code that
// creates its journal is still loading. Every call waits for it, and calls reach it in order.
import { type Host, journalHost } from "./host-port.ts";
import type { Journal, MaybePromise } from "./journal.ts";
import { type SessionValues, setIfExists, type ValueStore } from "./values.ts";

/** The parts of the host that are already known. */
export interface AwaitedHostOptions {
	/** Name of the journal. Default: `awaited`. */
	readonly name?: string;
	/** Default: values in memory. */
	readonly values?: ValueStore;
}

/**
 * Creates a host over a journal that becomes available later and must have the same `workerId`. If `known` rejects, every
 * call except `close` rejects with its error. Each call invokes `known` until the journal is available, and must get the
 * same promise.
 */
export function awaitedHost(
	workerId: string,
	known: () => Promise<Journal>,
	{ name = "awaited", values }: AwaitedHostOptions = {},
): Host {
	let journal: Journal | undefined;
	const whenKnown = <T>(use: (journal: Journal) => MaybePromise<T>): Promise<T> =>
		known().then((found) => {
			journal = found;
			return use(found);
		});
	const once = <T>(use: (journal: Journal) => MaybePromise<T>): MaybePromise<T> =>
		journal === undefined ? whenKnown(use) : use(journal);
	const awaited: Journal = {
		name,
		workerId,
		get volatile() {
			return journal?.volatile as true;
		},
		acquire: (key, options) => once((found) => found.acquire(key, options)),
		submit: (key, input) => once((found) => found.submit(key, input)),
		inbox: (key) => once((found) => found.inbox(key)),
		read: (key, options) => once((found) => found.read(key, options)),
		head: (key) => once((found) => found.head(key)),
		list: (options) => once((found) => found.list(options)),
		isAlive: (id) => once((found) => found.isAlive(id)),
		fork: (from, to, until) => once((found) => found.fork(from, to, until)),
		delete: (key, seen) => once((found) => found.delete(key, seen)),
		watch(key, changed) {
			if (journal !== undefined) return journal.watch(key, changed);
			let stop: (() => void) | undefined;
			let stopped = false;
			whenKnown((found) => {
				if (!stopped) stop = found.watch(key, changed);
			}).catch(() => {});
			return () => {
				stopped = true;
				stop?.();
			};
		},
		close: () =>
			known().then(
				(found) => found.close(),
				() => {},
			),
	};
	return journalHost(awaited, values === undefined ? {} : { values });
}

/** Creates values in a store that becomes available later. */
export function awaitedValues(known: () => Promise<ValueStore>): ValueStore {
	return {
		values(sessionKey, owner) {
			const once = async <T>(use: (values: SessionValues) => MaybePromise<T>): Promise<T> =>
				use((await known()).values(sessionKey, owner));
			return {
				get: (name) => once((values) => values.get(name)),
				set: (name, value) => once((values) => values.set(name, value)),
				setIfExists: (name, value) => once((values) => setIfExists(values, name, value)),
				delete: (name) => once((values) => values.delete(name)),
				list: () => once((values) => values.list()),
			};
		},
		deleteSession: async (sessionKey) => (await known()).deleteSession(sessionKey),
	};
}

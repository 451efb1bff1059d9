// A host that is known only later: the plugins of an agent may say where its sessions are kept. Every call waits for it.
import { type Host, journalHost } from "./host-port.ts";
import type { Journal, MaybePromise } from "./journal.ts";

/**
 * A host over a journal to come, which has to have the same `workerId`. When `known` rejects, every call but `close`
 * rejects with that. It is asked by each call until the journal is there.
 */
export function awaitedHost(workerId: string, known: () => Promise<Journal>): Host {
	let journal: Journal | undefined;
	const whenKnown = <T>(use: (journal: Journal) => MaybePromise<T>): Promise<T> =>
		known().then((found) => {
			journal = found;
			return use(found);
		});
	const once = <T>(use: (journal: Journal) => MaybePromise<T>): MaybePromise<T> =>
		journal === undefined ? whenKnown(use) : use(journal);
	return journalHost({
		name: "awaited",
		workerId,
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
	});
}

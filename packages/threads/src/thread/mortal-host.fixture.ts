// Processes that die at a write: what they have committed by then stays, and the rest of them never happens.
import { type Host, memoryHost } from "holdfast";
import type { Lease, MemoryJournal } from "holdfast/host";

/** A store that outlives the processes on it. */
export interface MortalStore {
	/** A process that dies before or after its nth write; without a number it lives. */
	process(deathAt?: { readonly write: number; readonly moment: "before" | "after" }): MortalHost;
}

/** The host of one process. */
export interface MortalHost extends Host {
	/** Resolves when it has died. */
	readonly died: Promise<void>;
	readonly isDead: boolean;
	/** How many writes it has made. */
	readonly writes: number;
}

const never: Promise<never> = new Promise(() => {});

/** Makes a store. */
export function mortalStore(): MortalStore {
	const base = memoryHost();
	let made = 0;
	return {
		process(deathAt) {
			const journal = (base.journal as MemoryJournal).worker(`process ${++made}`);
			const died = Promise.withResolvers<void>();
			let writes = 0;
			let isDead = false;
			const write = <T>(make: () => T): T | Promise<never> => {
				if (isDead) return never;
				writes++;
				if (writes !== deathAt?.write) return make();
				isDead = true;
				if (deathAt.moment === "after") make();
				journal.die();
				died.resolve();
				return never;
			};
			const mortalLease = (lease: Lease): Lease =>
				new Proxy(lease, {
					get(target, name) {
						if (name === "append")
							return (batch: Parameters<Lease["append"]>[0]) => write(() => target.append(batch));
						const value: unknown = Reflect.get(target, name, target);
						return typeof value === "function" ? value.bind(target) : value;
					},
				});
			const { records, values } = base;
			return {
				...base,
				values: {
					...values,
					values: (key, owner) => {
						const own = values.values(key, owner);
						return {
							get: (name) => own.get(name),
							list: () => own.list(),
							delete: (name) => write(() => own.delete(name)),
							set: (name, value) => write(() => own.set(name, value)),
						};
					},
				},
				records: {
					get: (address) => records.get(address),
					list: (shelf, options) => records.list(shelf, options),
					commit: (expected, changes) => write(() => records.commit(expected, changes)),
				},
				journal: {
					...journal,
					acquire(key, options) {
						if (isDead) return never;
						const acquired = journal.acquire(key, options) as Awaited<ReturnType<typeof journal.acquire>>;
						return acquired.ok ? { ok: true, lease: mortalLease(acquired.lease) } : acquired;
					},
					submit: (key, input) => write(() => journal.submit(key, input)),
				},
				files: base.files,
				timers: base.timers,
				changes: base.changes,
				runs: base.runs,
				died: died.promise,
				get isDead() {
					return isDead;
				},
				get writes() {
					return writes;
				},
				close: async () => {
					if (!isDead) await journal.close();
				},
			};
		},
	};
}

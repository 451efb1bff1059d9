// A host whose every write for a thread or its sub-agents has a name, and that lets one of them never begin, or never be answered.
import type { Host } from "holdfast";
import { readStoreKey } from "holdfast/execute";
import type { Lease } from "holdfast/host";
import type { SqliteHost } from "holdfast/sqlite";

/** Called for each write as it is asked for and when it is made; a promise holds it there. */
export type AtWrite = (
	thread: string,
	write: string,
	moment: "before" | "after",
) => Promise<never> | undefined;

/** The host with named writes, such as `append 3` or `child submit 1`. */
export function namedThreadWrites(host: SqliteHost, atWrite: AtWrite): Host {
	const counts = new Map<string, number>();
	/** The threads that sub-agents work for, by theirs. */
	const parents = new Map<string, string>();
	const { journal, values, records, files, timers } = host;

	async function named<T>(threadId: string, kind: string, write: () => T | Promise<T>): Promise<T> {
		const thread = parents.get(threadId) ?? threadId;
		const counted = `${thread} ${thread === threadId ? kind : `child ${kind}`}`;
		const number = (counts.get(counted) ?? 0) + 1;
		counts.set(counted, number);
		const name = `${counted.slice(thread.length + 1)} ${number}`;
		await atWrite(thread, name, "before");
		const result = await write();
		await atWrite(thread, name, "after");
		return result;
	}
	const at = (key: string): string => readStoreKey(key).key;

	const watchedLease = (lease: Lease): Lease =>
		overlay(lease, { append: (batch) => named(at(lease.key), "append", () => lease.append(batch)) });
	return {
		...host,
		journal: overlay(journal, {
			async acquire(key, options) {
				const acquired = await journal.acquire(key, options);
				return acquired.ok ? { ok: true, lease: watchedLease(acquired.lease) } : acquired;
			},
			submit: (key, input) => named(at(key), "submit", () => journal.submit(key, input)),
		}),
		records: {
			get: (address) => records.get(address),
			list: (shelf, options) => records.list(shelf, options),
			commit(expected, writes) {
				const [first] = writes;
				const { id, parent } = (first?.value ?? {}) as { id?: string; parent?: { threadId: string } };
				if (id !== undefined && parent !== undefined)
					parents.set(id, parents.get(parent.threadId) ?? parent.threadId);
				const effect = /^thread-effects (?<key>[\s\S]*)$/.exec(first?.shelf ?? "")?.groups?.key;
				const call = /^thread-calls (?<key>[\s\S]*)$/.exec(first?.shelf ?? "")?.groups?.key;
				const key = id ?? (effect === undefined ? call && at(call) : at(effect));
				const kind = effect === undefined ? "record" : "effect";
				return key === undefined
					? records.commit(expected, writes)
					: named(key, kind, () => records.commit(expected, writes));
			},
		},
		values: {
			...values,
			values(key, owner) {
				const own = values.values(key, owner);
				return overlay(own, { set: (name, value) => named(at(key), "value", () => own.set(name, value)) });
			},
			deleteSession: (key) => values.deleteSession(key),
		},
		files: {
			of(key, owner) {
				const own = files.of(key, owner);
				return overlay(own, {
					write: (name, source) => named(at(key), "file", () => own.write(name, source)),
				});
			},
		},
		timers: overlay(timers, {
			set: (timer) => named(at(timer.key), "timer", () => timers.set(timer)),
			settle: (timer) => named(at(timer.key), "settled timer", () => timers.settle(timer)),
		}),
	};
}

/** An object that is another one but for some of its methods. */
function overlay<T extends object>(object: T, methods: Partial<T>): T {
	return new Proxy(object, {
		get(target, name) {
			if (Object.hasOwn(methods, name)) return methods[name as keyof T];
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

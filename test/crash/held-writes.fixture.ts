// A host whose every write has a name within its case, and that lets one write of a case never begin, or never be
// answered: the process that is killed then dies for each of its cases at another moment.
import type { Lease } from "holdfast/host";
import type { SqliteHost } from "holdfast/sqlite";
import { caseIn } from "./case-model.fixture.ts";

/** Called for each write as it is asked for and when it is committed; a promise holds it there. */
export type AtWrite = (name: string, write: string, moment: "before" | "after") => Promise<never> | undefined;

/** The host with named writes: `parent append 2`, `child submit 1`, `records 3`. */
export function namedWrites(host: SqliteHost, atWrite: AtWrite): SqliteHost {
	const counts = new Map<string, number>();

	async function named<T>(text: string, kind: string, write: () => T | Promise<T>): Promise<T> {
		const name = caseIn(text);
		const counted = `${name} ${kind}`;
		const number = (counts.get(counted) ?? 0) + 1;
		counts.set(counted, number);
		await atWrite(name, `${kind} ${number}`, "before");
		const result = await write();
		await atWrite(name, `${kind} ${number}`, "after");
		return result;
	}
	const whose = (place: string): string => (place.startsWith("\0sub") ? "child" : "parent");

	const { journal } = host;
	const records = (journal as unknown as { records: SqliteRecordsLike }).records;
	const { commit } = records;
	records.commit = (expected, writes) =>
		writes.length === 0
			? commit(expected, writes)
			: named(JSON.stringify(writes), "records", () => commit(expected, writes));

	const watchedLease = (lease: Lease): Lease =>
		overlay(lease, {
			append: (batch) => named(lease.key, `${whose(lease.key)} append`, () => lease.append(batch)),
		});
	const watched = overlay(journal, {
		async acquire(key, options) {
			const acquired = await journal.acquire(key, options);
			return acquired.ok ? { ok: true, lease: watchedLease(acquired.lease) } : acquired;
		},
		submit: (key, input) => named(key, `${whose(key)} submit`, () => journal.submit(key, input)),
	});
	return { ...host, journal: watched };
}

interface SqliteRecordsLike {
	commit(expected: readonly unknown[], writes: readonly unknown[]): boolean | Promise<boolean>;
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

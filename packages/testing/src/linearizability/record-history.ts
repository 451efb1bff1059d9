// Records what a process does to a journal, for the history check. Each operation's start is written before it and its
// end after it, so that the record of a killed process shows what it had started.
import {
	type Append,
	type EncodedFact,
	type Entry,
	encodeFact,
	type Journal,
	type Lease,
} from "holdfast/host";
import type { Operation } from "./linearizable.ts";
import type { SessionOperation, SessionOutcome } from "./session-history.ts";

/** One line of a record: the start or the end of an operation. An end without an outcome: the outcome is unknown. */
export type HistoryLine =
	| { readonly call: string; readonly at: number; readonly key: string; readonly begins: SessionOperation }
	| { readonly call: string; readonly at: number; readonly ends: SessionOutcome | null };

let recorders = 0;

/**
 * Creates a journal that records its operations: `write` is called with each line, and must have stored it when it
 * returns. Appends and complete reads are recorded; a folded or deleted session cannot be checked. Times are in
 * nanoseconds of the machine's clock, which all its processes share.
 */
export function recordHistory(journal: Journal, write: (line: HistoryLine) => void): Journal {
	const name = `${journal.workerId} ${++recorders}`;
	let calls = 0;
	let leases = 0;

	async function recorded<Result>(
		key: string,
		begins: SessionOperation,
		act: () => Promise<Result>,
		outcomeOf: (result: Result) => SessionOutcome,
	): Promise<Result> {
		const call = `${name} ${++calls}`;
		write({ call, at: now(), key, begins });
		try {
			const result = await act();
			write({ call, at: now(), ends: outcomeOf(result) });
			return result;
		} catch (error) {
			const isRefused = (error as { code?: unknown }).code === "lease_lost" || begins.kind === "read";
			write({ call, at: now(), ends: isRefused ? { kind: "refused" } : null });
			throw error;
		}
	}

	function recordedLease(lease: Lease): Lease {
		const id = `${name} ${++leases}`;
		return new Proxy(lease, {
			get(target, property) {
				if (property === "append")
					return (batch: Append) =>
						recorded(
							lease.key,
							{ kind: "append", lease: id, epoch: lease.epoch, facts: batch.facts.map(textOf) },
							async () => lease.append(batch),
							(result) =>
								result.ok ? { kind: "appended", seq: result.seq, epoch: lease.epoch } : { kind: "refused" },
						);
				const value = Reflect.get(target, property, target) as unknown;
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	}

	return {
		...journal,
		async acquire(key, options) {
			const result = await journal.acquire(key, options);
			return result.ok ? { ok: true, lease: recordedLease(result.lease) } : result;
		},
		async read(key, options = {}) {
			if (options.limit !== undefined) return journal.read(key, options);
			return recorded(
				key,
				{ kind: "read", after: options.after ?? 0 },
				async () => journal.read(key, options),
				(entries: readonly Entry[]) => ({ kind: "read", facts: entries.map(({ fact }) => textOf(fact)) }),
			);
		},
	};
}

/** Groups the lines of all processes, in any order, into operations by session. */
export function operationsOf(
	lines: Iterable<HistoryLine>,
): Map<string, Operation<SessionOperation, SessionOutcome>[]> {
	const begun = new Map<string, Extract<HistoryLine, { begins: unknown }>>();
	const ended = new Map<string, Extract<HistoryLine, { ends: unknown }>>();
	for (const line of lines) {
		if ("begins" in line) begun.set(line.call, line);
		else ended.set(line.call, line);
	}
	const sessions = new Map<string, Operation<SessionOperation, SessionOutcome>[]>();
	for (const { call, at, key, begins } of begun.values()) {
		const end = ended.get(call);
		const output = end?.ends ?? undefined;
		const operations = sessions.get(key) ?? [];
		sessions.set(key, operations);
		const last = end === undefined || output === undefined ? Number.POSITIVE_INFINITY : end.at;
		operations.push({ begun: at, ended: last, input: begins, output });
	}
	return sessions;
}

function now(): number {
	return Number(process.hrtime.bigint());
}

function textOf(fact: Parameters<typeof encodeFact>[0]): string {
	const { kind, version, body }: EncodedFact = encodeFact(fact);
	return `${kind} ${version} ${body}`;
}

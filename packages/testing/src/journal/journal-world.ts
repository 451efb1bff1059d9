// The environment, the definition and the helpers of cases about journals.
import type { Entry, Fact, Input, Journal, Lease, MaybePromise } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";

/** A store and the workers that share it, for one case. */
export interface JournalWorld {
	/** Creates a worker over the store: a journal with a unique worker id. */
	worker(): MaybePromise<Journal>;
	/** Ends a worker abruptly, like SIGKILL. */
	kill?(journal: Journal): MaybePromise<void>;
	/** Stops a worker until the others consider it dead, like SIGSTOP. */
	stop?(journal: Journal): MaybePromise<void>;
	/** Lets a stopped worker continue. */
	wake?(journal: Journal): MaybePromise<void>;
	/** Ends all workers and removes the store. */
	end(): MaybePromise<void>;
}

/** Options of `journalContract`. */
export interface JournalContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/** Creates an empty store. */
	make(): MaybePromise<JournalWorld>;
	/**
	 * The operations that the test environment supports: `kill`, or `stop` and `wake` of workers; and whether the journal
	 * can `fold` settled entries and stores `chunks`. Default: all of them. Cases that require other operations are
	 * omitted.
	 */
	readonly can?: readonly ("kill" | "stop" | "fold" | "chunks")[];
}

/** The definition of a case: its requirements and its test on a new store. */
export interface WrittenCase {
	readonly title: string;
	/** The required operation on workers, or on the journal's entries. */
	readonly needs?: "kill" | "stop" | "fold" | "chunks";
	run(world: Required<JournalWorld>): Promise<void>;
}

/** Converts the cases for a test runner. */
export function toContractCase(options: JournalContractOptions, written: WrittenCase): ContractCase {
	return {
		name: `${options.name}: ${written.title}`,
		async run() {
			const world = await options.make();
			try {
				await written.run(world as Required<JournalWorld>);
			} finally {
				await world.end();
			}
		},
	};
}

/** Throws unless both values are equal as JSON. */
export function same(actual: unknown, expected: unknown, what: string): void {
	const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
	if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`);
}

/** Throws unless the call rejects with the code. */
export async function rejects(code: string, call: () => unknown): Promise<void> {
	let answer: unknown;
	try {
		answer = await call();
	} catch (error) {
		same((error as { code?: unknown }).code, code, `code of ${error}`);
		return;
	}
	throw new Error(`expected a rejection with ${code}, got ${JSON.stringify(answer)}`);
}

/** Takes a lease; throws if it is not granted. */
export async function take(
	journal: Journal,
	key: string,
	mode: "polite" | "seize" = "polite",
): Promise<Lease> {
	const result = await journal.acquire(key, { mode });
	if (!result.ok)
		throw new Error(`expected a lease on ${JSON.stringify(key)}, but ${result.heldBy} holds it`);
	return result.lease;
}

/** Appends facts of one run; resolves to the seq of the last. */
export async function append(lease: Lease, runId: string, ...facts: readonly Fact[]): Promise<number> {
	const result = await lease.append({ at: 1_000, runId, facts });
	if (!result.ok) throw new Error(`expected an append, got ${result.reason}`);
	return result.seq;
}

/** Takes the session and opens a run. */
export async function begin(journal: Journal, key: string, runId = "run-1"): Promise<Lease> {
	const lease = await take(journal, key);
	await append(lease, runId, started);
	return lease;
}

/** Waits for a condition; throws after a time limit in milliseconds. */
export async function eventually(
	what: string,
	holds: () => MaybePromise<boolean>,
	patience = 10_000,
): Promise<void> {
	const end = Date.now() + patience;
	while (!(await holds())) {
		if (Date.now() > end) throw new Error(`it did not come about that ${what}`);
		await new Promise((wake) => setTimeout(wake, 5));
	}
}

/** A fact that starts a run. */
export const started: Fact = {
	kind: "run.started",
	runKind: "user-turn",
	agentId: "agent",
	fingerprint: "f",
};
/** A fact that ends a run as completed. */
export const ended: Fact = { kind: "run.ended", outcome: "completed" };

/** Creates a fact that notes a value. */
export function note(value: unknown): Fact {
	return { kind: "note", step: 1, topic: "test", value };
}

/** Creates an input with an id. */
export function input(id: string, more: Partial<Input> = {}): Input {
	return { id, kind: "message", body: { text: id }, ...more };
}

/** Returns the values of the notes among entries. */
export function notes(entries: readonly Entry[]): unknown[] {
	return entries.flatMap(({ fact }) => (fact.kind === "note" ? [fact.value] : []));
}

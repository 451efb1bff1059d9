// Finds store keys of sessions that share a prefix or a state.
import { never } from "../facts/index.ts";
import { type Clock, childPrefix, type Journal, type ListOptions, type SessionHead } from "../host/index.ts";
import { localStore } from "./local-store.ts";
import type { Supervised } from "./supervised.ts";

const pageSize = 100;
/** A large page, because a store in memory scans all its sessions for each page. */
const orphansAtOnce = 1_000;
/** Milliseconds before its deadline at which periodic searches find a session. */
const ahead = 60_000;

/**
 * Yields the store keys that begin with `prefix`, in order, page by page. `only` narrows them to sessions in one state,
 * or that changed since a time, and `which` to those for which it returns true.
 */
export async function* storeKeysWith(
	journal: Journal,
	prefix: string,
	only: Pick<ListOptions, "changedSince" | "state"> = {},
	which: (head: SessionHead) => boolean = () => true,
): AsyncGenerator<string, void, void> {
	for (let after = ""; ; ) {
		const heads = await journal.list({ ...only, prefix, after, limit: pageSize });
		for (const head of heads) {
			if (which(head)) yield head.key;
			after = head.key;
		}
		if (heads.length < pageSize) return;
	}
}

/**
 * Yields the sessions without an owner that have work: those that the store reports, and those that this process could
 * not release because the store failed. Also yields sessions whose turns this process accepted after a run that was
 * left open and has since ended. As long as this process lives, others consider it the owner of the last kind.
 */
async function* orphanedKeys(journal: Journal, prefix = ""): AsyncGenerator<string, void, void> {
	const { unreleased: kept, left } = localStore(journal);
	const unreleased = new Set([...kept].filter((key) => key.startsWith(prefix)));
	yield* unreleased;
	for (const key of [...left].filter((each) => each.startsWith(prefix) && !unreleased.has(each))) {
		const head = await journal.head(key);
		if (head === undefined || head.waiting === 0) left.delete(key);
		else if (head.openRunId === undefined) yield key;
	}
	for (let after = ""; ; ) {
		const heads = await journal.list({ state: "orphaned", prefix, after, limit: orphansAtOnce });
		for (const { key } of heads) {
			if (!unreleased.has(key)) yield key;
			after = key;
		}
		if (heads.length < orphansAtOnce) return;
	}
}

/**
 * Yields the store keys of orphaned sessions, including sessions of sub-agents in other stores that have unowned work.
 */
export async function* orphans({
	journal,
	prefix,
	elsewhere,
}: Pick<Supervised, "journal" | "prefix" | "elsewhere">): AsyncGenerator<string, void, void> {
	yield* orphanedKeys(journal, prefix);
	// Two sub-agents may have separate journals over one store.
	const seen = new Set<string>();
	for (const other of new Set(elsewhere?.())) {
		for await (const key of orphanedKeys(other, childPrefix())) {
			if (!seen.has(key)) yield key;
			seen.add(key);
		}
	}
}

/**
 * Finds sessions whose calls have deadlines, once for each wait, because the process that watched the deadline may have
 * died.
 */
export class WaitingSessions {
	readonly #journal: Journal;
	readonly #clock: Pick<Clock, "now">;
	/** The waits already found, by store key. */
	#seen = new Map<string, number>();

	constructor(journal: Journal, clock: Pick<Clock, "now">) {
		this.#journal = journal;
		this.#clock = clock;
	}

	/** No process watches that session: the next scan finds it again. */
	missed(storeKey: string): void {
		this.#seen.delete(storeKey);
	}

	/** Yields sessions with a deadline, `soon` or `ever`, that the previous search did not find. */
	async withDeadlines(when: "soon" | "ever", prefix = ""): Promise<readonly string[]> {
		const dueBy = when === "soon" ? this.#clock.now() + ahead : never - 1;
		const seen = new Map<string, number>();
		const found: string[] = [];
		for (const { key, seq } of await this.#journal.list({ state: "waiting", dueBy, prefix })) {
			if (this.#seen.get(key) !== seq) found.push(key);
			seen.set(key, seq);
		}
		this.#seen = seen;
		return found;
	}
}

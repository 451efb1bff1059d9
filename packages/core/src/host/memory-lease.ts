// A lease on an in-memory session: the same rules as for durable ones, but synchronous (keeps I4).

import { duplicateInput, historyUnsettled, journalClosed, leaseLost } from "../facts/index.ts";
import type { Append, AppendResult, Lease, StoredInput } from "./journal.ts";
import { noteChange } from "./memory-order.ts";
import {
	createSession,
	type Holder,
	lastSeq,
	type Session,
	type Store,
	type Worker,
} from "./memory-store.ts";

/** The lease only reads at first. Its first append takes over the session by raising the epoch, or finds it deleted. */
export class MemoryLease implements Holder, Lease {
	readonly key: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly worker: Worker;
	readonly #store: Store;
	readonly #mode: "polite" | "seize";
	#session: Session | undefined;
	#epoch: number;
	#state: "looked" | "taken" | "lost" = "looked";
	#notify: (() => void) | undefined;

	constructor(
		store: Store,
		worker: Worker,
		key: string,
		session: Session | undefined,
		mode: "polite" | "seize",
	) {
		this.#store = store;
		this.#session = session;
		this.#mode = mode;
		this.#epoch = session?.epoch ?? store.highestDeletedEpoch;
		this.worker = worker;
		this.key = key;
		this.seq = session === undefined ? 0 : lastSeq(session);
		if (session?.openRunId !== undefined) this.openRunId = session.openRunId;
	}

	get epoch(): number {
		return this.#state === "looked" ? this.#epoch + 1 : this.#epoch;
	}

	get isLost(): boolean {
		return this.#state === "lost";
	}

	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
	}

	lose(): void {
		if (this.#state === "lost") return;
		this.#state = "lost";
		this.#notify?.();
	}

	append(batch: Append): AppendResult {
		if (this.worker.closed) throw journalClosed();
		if (batch.drain !== undefined && !isWaiting(this.#store.sessions.get(this.key), batch.drain)) {
			this.lose();
			throw leaseLost(this.key);
		}
		const found = this.#state === "taken" ? this.#session : this.#find();
		const { dedupeKey } = batch;
		if (dedupeKey !== undefined && found?.dedupe?.has(dedupeKey) === true) throw duplicateInput(this.key);
		if (batch.onlyIfNothingWaits && somethingWaits(found, batch)) {
			return { ok: false, reason: "inputs-waiting" };
		}
		if (batch.replaces !== undefined) checkSettled(this.key, found, batch.replaces);
		const session = found ?? createSession(this.#store, this.key, batch.at);
		const before = this.#state === "looked" ? this.#take(session) : undefined;
		if (batch.replaces !== undefined) fold(session, batch, batch.replaces);
		else this.#add(session, batch);
		if (batch.facts.length > 0)
			noteChange(this.#store.order, session, batch.replaces === undefined ? "appended" : "changed");
		if (batch.drain !== undefined) drain(session, batch.drain);
		if (dedupeKey !== undefined) {
			session.dedupe ??= new Map();
			session.dedupe.set(dedupeKey, 0);
		}
		session.updatedAt = Math.max(session.updatedAt, batch.at);
		// Its previous owner is notified once the takeover is committed.
		before?.lose();
		this.#store.watchers.changed(this.key);
		return { ok: true, seq: lastSeq(session) };
	}

	#add(session: Session, { at, runId, facts, chunks = [] }: Append): void {
		let seq = lastSeq(session);
		if (chunks.length > 0) {
			session.chunks ??= [];
			for (const chunk of chunks) session.chunks.push({ seq, ...chunk });
		}
		for (const fact of facts) {
			session.entries.push({ seq: ++seq, at, runId, fact });
			if (fact.kind === "run.started") session.openRunId = runId;
			else if (fact.kind === "run.ended" && session.openRunId === runId) session.openRunId = undefined;
		}
	}

	inbox(): readonly StoredInput[] {
		if (this.worker.closed) throw journalClosed();
		return this.#store.sessions.get(this.key)?.inbox?.slice() ?? [];
	}

	release(): void {
		const session = this.#state === "taken" ? this.#session : undefined;
		// For a session without entries, having a holder only means that it was taken over once.
		if (session?.holder === this && session.entries.length > 0) session.holder = undefined;
		this.#state = "lost";
		this.#notify = undefined;
	}

	/** Returns the session as it was read, if it exists now; otherwise ends this lease. */
	#find(): Session | undefined {
		const session = this.#store.sessions.get(this.key);
		if (
			this.#state === "looked" &&
			(session === undefined ? this.#session === undefined : this.#isCurrent(session))
		)
			return session;
		this.lose();
		throw leaseLost(this.key);
	}

	#isCurrent(session: Session): boolean {
		// It did not exist when it was read. If it does now, it must be because of an input.
		if (this.#session === undefined) return session.entries.length === 0 && session.holder === undefined;
		if (session.epoch !== this.#epoch || session.openRunId !== this.openRunId) return false;
		return this.#mode === "seize" || lastSeq(session) === this.seq;
	}

	/** Returns the lease that held the session until now. */
	#take(session: Session): Holder | undefined {
		const before = session.holder;
		session.holder = this;
		this.#session = session;
		this.#epoch = ++session.epoch;
		this.#state = "taken";
		return before;
	}
}

function somethingWaits(session: Session | undefined, batch: Append): boolean {
	if (session?.inbox === undefined) return false;
	const drained = new Set(batch.drain);
	return session.inbox.some(
		(input) =>
			input.kind !== "message" &&
			(input.runId === undefined || input.runId === batch.runId) &&
			!drained.has(input.id),
	);
}

/** Folded entries must be settled: none of them is emitted, resumed or settled later. */
function checkSettled(key: string, session: Session | undefined, seq: number): void {
	const kind = session?.entries.find((entry) => entry.seq === seq)?.fact.kind;
	if (session?.openRunId === undefined && (kind === "run.ended" || kind === "folded")) return;
	throw historyUnsettled(key, seq);
}

function fold(session: Session, { at, runId, facts }: Append, seq: number): void {
	const { entries } = session;
	session.chunks = session.chunks?.filter((chunk) => chunk.seq >= seq);
	const count = seq - (entries[0]?.seq ?? seq) + 1;
	entries.splice(0, count, ...facts.map((fact) => ({ seq, at, runId, fact })));
}

/** A missing inbox input was deleted with its session or taken by another lease: either way, the session has changed. */
function isWaiting(session: Session | undefined, ids: readonly string[]): boolean {
	if (ids.length === 0) return true;
	const waiting = new Set(session?.inbox?.map(({ id }) => id));
	return ids.every((id) => waiting.has(id));
}

function drain(session: Session, ids: readonly string[]): void {
	const drained = new Set(ids);
	session.inbox = session.inbox?.filter(({ id }) => !drained.has(id));
}

// One append of a lease (keeps I3, I4). Within its transaction it checks that the lease is valid, or takes over the
// session for it, and only then writes. If the transaction fails, changes in memory are reverted.

import type { Committed, Fact } from "../facts/index.ts";
import {
	decodeFact,
	duplicateInput,
	type EncodedFact,
	encodeFact,
	leaseLost,
	lookAt,
	sessionExists,
} from "../facts/index.ts";
import type { Append, AppendResult } from "../host/index.ts";
import { type FoldedRow, foldEntries, settledRow } from "./fold-entries.ts";
import { timer } from "./long-work.ts";
import { takePosition } from "./session-writes.ts";
import type { Operation } from "./shared-commits.ts";
import type { LeaseState, SeenSession, SqliteLease } from "./sqlite-lease.ts";
import { encodedValue } from "./sqlite-values.ts";
import { fromStored, toStored } from "./stored-text.ts";

const nothing: readonly never[] = [];

/** An append in progress. */
export class Appending implements Operation {
	readonly lane: SqliteLease;
	readonly #batch: Append;
	readonly #facts: readonly EncodedFact[];
	readonly #chunks: readonly { readonly sub: number; readonly body: string }[];
	/** Owner, name and text of each. */
	readonly #values: readonly (readonly [owner: string, name: string, text: string])[];
	readonly #runId: string;
	readonly #resolve: (result: AppendResult) => void;
	readonly #reject: (error: Error) => void;
	#before: LeaseState | undefined;
	#seq = 0;
	#inputsWait = false;
	/** Whether it takes over the session or starts a run: from then on this worker must send heartbeats. */
	#begins = false;

	constructor(
		lease: SqliteLease,
		batch: Append,
		resolve: (result: AppendResult) => void,
		reject: (error: Error) => void,
	) {
		this.lane = lease;
		this.#batch = batch;
		// Encoded immediately, so that later changes by the caller do not affect the append.
		this.#facts = batch.facts.map(encodeFact);
		this.#chunks = batch.chunks?.map(({ sub, event }) => ({ sub, body: JSON.stringify(event) })) ?? nothing;
		this.#values =
			batch.values?.map(({ owner, name, value }) => [toStored(owner), toStored(name), encodedValue(value)]) ??
			nothing;
		this.#runId = toStored(batch.runId);
		this.#resolve = resolve;
		this.#reject = reject;
	}

	apply(): void {
		const lease = this.lane;
		const before = lease.state;
		this.#before = before;
		const seen = before.taken ? undefined : this.#look();
		if (before.taken) this.#checkEpoch();
		const session = seen?.id ?? before.session;
		this.#checkDrained(session);
		this.#checkKey(session);
		this.#checkValues(session, seen?.seq ?? before.seq);
		this.#inputsWait =
			this.#batch.onlyIfNothingWaits === true && session !== undefined && this.#somethingWaits(session);
		if (this.#inputsWait) return;
		const { replaces } = this.#batch;
		const found = { session, seq: replaces ?? 0, openRun: before.openRun };
		const row = replaces === undefined ? undefined : settledRow(lease.store.statements, lease.key, found);
		const openRun = openRunAfter(before.openRun, this.#runId, this.#batch.facts);
		const at = openRun === null ? null : lookAt(this.#batch.facts, before.lookAt);
		this.#begins = !before.taken || (openRun !== null && before.openRun === null);
		const owner = this.#begins ? lease.store.worker.present() : 0;
		const state = before.taken ? this.#keep(before, openRun, at) : this.#take(seen, openRun, at, owner);
		lease.state = row === undefined ? this.#write(state) : this.#fold(state, row);
		this.#seq = lease.state.seq;
	}

	undo(): void {
		if (this.#before === undefined) return;
		if (this.#begins) this.lane.store.worker.undo();
		this.lane.state = this.#before;
		this.#before = undefined;
	}

	committed(): void {
		this.lane.pending--;
		if (this.#inputsWait) {
			this.#resolve({ ok: false, reason: "inputs-waiting" });
			return;
		}
		const { store, key } = this.lane;
		if (this.#begins) store.worker.committed();
		if (this.#before?.taken === false) this.#hold();
		this.lane.seenAt = performance.now();
		this.#resolve({ ok: true, seq: this.#seq });
		store.feed.committed(key, this.#batch.replaces === undefined ? () => [this.#committed()] : undefined);
	}

	/** The commit, built from the written data, not from the given data: it is what every other reader will see. */
	#committed(): Committed {
		const { at, runId } = this.#batch;
		const [facts, chunks] = [this.#facts, this.#chunks];
		const after = this.#seq - facts.length;
		const { incarnation = "", epoch } = this.lane.state;
		let size = 0;
		for (const { body } of facts) size += body.length;
		for (const { body } of chunks) size += body.length;
		let decoded: ReturnType<Committed["read"]> | undefined;
		return {
			incarnation,
			epoch,
			after,
			count: facts.length + chunks.length,
			size,
			read() {
				decoded ??= {
					entries: facts.map(({ kind, version, body }, index) => ({
						seq: after + 1 + index,
						at,
						runId,
						fact: decodeFact(kind, version, body),
					})),
					chunks: chunks.map(({ sub, body }) => ({ seq: after, sub, event: JSON.parse(body) })),
				};
				return decoded;
			},
		};
	}

	failed(error: Error): void {
		this.lane.pending--;
		if ((error as { code?: string }).code === "lease_lost") this.lane.lose();
		this.#reject(error);
	}

	/** Returns the current session, if it is unchanged since the lease read it. */
	#look(): SeenSession | undefined {
		const { state, store, storedKey, mode } = this.lane;
		const now = store.statements.findSession.get(storedKey) as unknown as SeenSession | undefined;
		if (state.session === undefined) {
			// It may exist now, but only because of an input.
			if (now === undefined || (now.seq === 0 && now.owner === null)) return now;
		} else if (now?.id === state.session && now.epoch === state.epoch && now.open_run === state.openRun) {
			if (mode === "seize" || now.seq === state.seq) return now;
		}
		throw leaseLost(this.lane.key);
	}

	/**
	 * A missing inbox input was deleted with its session or taken by another lease: either way, the session has changed.
	 */
	#checkDrained(session: number | undefined): void {
		const { store, key } = this.lane;
		for (const id of this.#batch.drain ?? nothing)
			if (session === undefined || store.statements.findInput.get(session, toStored(id)) === undefined)
				throw leaseLost(key);
	}

	#checkKey(session: number | undefined): void {
		const { store, key } = this.lane;
		const { dedupeKey } = this.#batch;
		if (session === undefined || dedupeKey === undefined) return;
		if (store.statements.findDedupe.get(session, toStored(dedupeKey)) !== undefined)
			throw duplicateInput(key);
	}

	#checkValues(session: number | undefined, seq: number): void {
		if (session === undefined || this.#values.length === 0) return;
		const { findValue } = this.lane.store.statements;
		if (seq > 0 || this.#values.some(([owner, name]) => findValue.get(session, owner, name) !== undefined))
			throw sessionExists(this.lane.key);
	}

	#checkEpoch(): void {
		const { state, store, key } = this.lane;
		const row = store.statements.sessionEpoch.get(state.session as number) as { epoch: number } | undefined;
		if (row?.epoch !== state.epoch) throw leaseLost(key);
	}

	#somethingWaits(session: number): boolean {
		const waiting = this.lane.store.statements.waitingForRun.all(session, this.#runId) as { id: string }[];
		const drained = new Set(this.#batch.drain);
		return waiting.some(({ id }) => !drained.has(fromStored(id)));
	}

	#take(
		seen: SeenSession | undefined,
		openRun: string | null,
		lookAt: number | null,
		owner: number,
	): LeaseState {
		const { statements } = this.lane.store;
		const { at } = this.#batch;
		const fresh = { taken: true, openRun, lookAt, runId: undefined, runRow: null };
		if (seen === undefined) {
			const created = statements.createTakenSession.get(this.lane.storedKey, owner, openRun, lookAt, at, at);
			const { id, epoch, incarnation } = created as unknown as Pick<
				SeenSession,
				"id" | "epoch" | "incarnation"
			>;
			return { ...fresh, session: id, incarnation, epoch, seq: 0 };
		}
		const epoch = seen.epoch + 1;
		statements.takeSession.run(epoch, owner, openRun, lookAt, at, seen.id);
		return { ...fresh, session: seen.id, incarnation: seen.incarnation, epoch, seq: seen.seq };
	}

	#keep(before: LeaseState, openRun: string | null, lookAt: number | null): LeaseState {
		if (openRun === before.openRun && lookAt === before.lookAt) return before;
		this.lane.store.statements.setOpenRun.run(openRun, lookAt, this.#batch.at, before.session as number);
		return { ...before, openRun, lookAt };
	}

	#write(state: LeaseState): LeaseState {
		const { statements } = this.lane.store;
		const { at, drain = nothing, dedupeKey } = this.#batch;
		const session = state.session as number;
		for (const id of drain) statements.drainInput.run(session, toStored(id));
		if (dedupeKey !== undefined) statements.insertDedupe.run(session, toStored(dedupeKey), 0);
		for (const [owner, name, text] of this.#values)
			statements.setValue.run(session, owner, name, text, statements.sumOf([owner, name], text));
		let { seq, runRow } = state;
		for (const { sub, body } of this.#chunks)
			statements.insertChunk.run(session, seq, sub, body, statements.sumOf([seq, sub], body));
		// The ids of entries are change positions. A session that starts without an entry counts as a change too.
		if (this.#before?.session === undefined && this.#facts.length === 0)
			statements.setChanged.run(takePosition(statements), session);
		if (state.runId !== this.#runId) runRow = null;
		for (const { kind, version, body } of this.#facts) {
			const runId = runRow === null ? this.#runId : null;
			const sum = statements.sumOfEntry(kind, version, body);
			const written = statements.insertEntry.run(session, ++seq, runRow, runId, kind, version, at, body, sum);
			runRow ??= Number(written.lastInsertRowid);
		}
		const runId = runRow === null ? state.runId : this.#runId;
		return { ...state, seq, runId, runRow: runRow ?? state.runRow };
	}

	#fold(state: LeaseState, row: FoldedRow): LeaseState {
		const folding = { runId: this.#runId, fact: this.#facts[0] as EncodedFact, spent: timer() };
		const { statements } = this.lane.store;
		foldEntries(statements, state.session as number, row, folding);
		statements.setChanged.run(takePosition(statements), state.session as number);
		return { ...state, runId: this.#runId, runRow: row.id };
	}

	#hold(): void {
		const { store, state } = this.lane;
		const session = state.session as number;
		store.held.get(session)?.lose();
		if (!this.lane.isLost) store.held.set(session, this.lane);
	}
}

function openRunAfter(openRun: string | null, runId: string, facts: readonly Fact[]): string | null {
	let open = openRun;
	for (const { kind } of facts) {
		if (kind === "run.started") open = runId;
		else if (kind === "run.ended" && open === runId) open = null;
	}
	return open;
}

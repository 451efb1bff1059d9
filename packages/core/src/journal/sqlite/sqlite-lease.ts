// A lease on a session in SQLite (keeps I3, I4). Nothing is written to get it: the first append takes the session in
// its own transaction by raising the epoch, and is refused when the session is not as it was seen. Every append checks
// the epoch in its own transaction; that alone fences.
import { type EncodedFact, encodeFact } from "../codec.ts";
import type { Fact } from "../fact.ts";
import type { Append, AppendResult, Lease, StoredInput } from "../journal.ts";
import { journalClosed, leaseLost } from "../journal-errors.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { readInbox } from "./read-entries.ts";
import type { Operation, SharedCommits } from "./shared-commits.ts";
import { journalError } from "./sqlite-errors.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** What the parts of one journal share. */
export interface Store {
	readonly statements: Statements;
	readonly commits: SharedCommits;
	readonly worker: WorkerRegistration;
	readonly feed: ChangeFeed;
	/** The leases this worker has taken, by the number of their session. */
	readonly held: Map<number, SqliteLease>;
	closed: boolean;
}

/** A session as a lease sees it when it is asked for. */
export interface SeenSession {
	readonly id: number;
	readonly epoch: number;
	readonly owner: number | null;
	readonly open_run: string | null;
	readonly seq: number;
}

/** Where a lease stands; replaced by each append and put back when its transaction fails. */
interface Standing {
	readonly taken: boolean;
	/** Number of the session; undefined while there is none. */
	readonly session: number | undefined;
	readonly epoch: number;
	readonly seq: number;
	readonly openRun: string | null;
	/** The run of the last entry, and the row that names it. */
	readonly runId: string | undefined;
	readonly runRow: number | null;
}

export class SqliteLease implements Lease {
	readonly key: string;
	readonly storedKey: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly mode: "polite" | "seize";
	readonly store: Store;
	standing: Standing;
	/** Appends under way. */
	pending = 0;
	#over = false;
	#notify: (() => void) | undefined;

	constructor(
		store: Store,
		key: string,
		mode: "polite" | "seize",
		seen: SeenSession | undefined,
		forecast: number,
	) {
		this.store = store;
		this.key = key;
		this.storedKey = toStored(key);
		this.mode = mode;
		this.seq = seen?.seq ?? 0;
		const openRun = seen?.open_run ?? null;
		if (openRun !== null) this.openRunId = fromStored(openRun);
		const { seq } = this;
		const epoch = seen?.epoch ?? forecast;
		this.standing = { taken: false, session: seen?.id, epoch, seq, openRun, runId: undefined, runRow: null };
	}

	get epoch(): number {
		return this.standing.taken ? this.standing.epoch : this.standing.epoch + 1;
	}

	get isLost(): boolean {
		return this.#over;
	}

	// Only a listener makes the feed look at other processes' commits for this lease.
	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
		if (notify === undefined) this.store.feed.ignore(this);
		else if (!this.#over && !this.store.closed) this.store.feed.listen(this);
	}

	/** Looks whether the epoch still stands. */
	check(): void {
		const { taken, session, epoch } = this.standing;
		if (!taken || session === undefined) return;
		const row = this.store.statements.sessionEpoch.get(session) as { epoch: number } | undefined;
		if (row?.epoch !== epoch) this.lose();
	}

	lose(): void {
		if (this.#over) return;
		this.#end();
		this.#notify?.();
	}

	append(batch: Append): Promise<AppendResult> {
		return new Promise((resolve, reject) => {
			if (this.store.closed) throw journalClosed();
			if (this.#over) throw leaseLost(this.key);
			this.store.commits.add(new Appending(this, batch, resolve, reject));
			this.pending++;
		});
	}

	inbox(): readonly StoredInput[] {
		if (this.store.closed) throw journalClosed();
		const { statements } = this.store;
		const id =
			this.standing.session ?? (statements.sessionId.get(this.storedKey) as { id: number } | undefined)?.id;
		try {
			return id === undefined ? [] : readInbox(statements, id);
		} catch (error) {
			throw journalError(error);
		}
	}

	release(): void | Promise<void> {
		if (this.#over || this.store.closed) return;
		this.#end();
		// An idle session is anyone's to take: nothing need be written.
		const { taken, openRun } = this.standing;
		if (this.pending === 0 && (!taken || openRun === null)) return;
		return new Promise((resolve, reject) => {
			this.store.commits.add({
				lane: this,
				apply: () => {
					const { session, epoch } = this.standing;
					if (session !== undefined) this.store.statements.releaseSession.run(session, epoch);
				},
				undo() {},
				committed: resolve,
				failed: reject,
			});
		});
	}

	#end(): void {
		this.#over = true;
		const { session } = this.standing;
		if (session !== undefined && this.store.held.get(session) === this) this.store.held.delete(session);
	}
}

/** One append on its way. */
class Appending implements Operation {
	readonly lane: SqliteLease;
	readonly #batch: Append;
	readonly #facts: readonly EncodedFact[];
	readonly #runId: string;
	readonly #resolve: (result: AppendResult) => void;
	readonly #reject: (error: Error) => void;
	#before: Standing | undefined;
	#seq = 0;
	#inputsWait = false;

	constructor(
		lease: SqliteLease,
		batch: Append,
		resolve: (result: AppendResult) => void,
		reject: (error: Error) => void,
	) {
		this.lane = lease;
		this.#batch = batch;
		// Written down now: what the caller changes later is not what it appended.
		this.#facts = batch.facts.map(encodeFact);
		this.#runId = toStored(batch.runId);
		this.#resolve = resolve;
		this.#reject = reject;
	}

	apply(): void {
		const lease = this.lane;
		const before = lease.standing;
		this.#before = before;
		const seen = before.taken ? undefined : this.#look();
		if (before.taken) this.#checkEpoch();
		const session = seen?.id ?? before.session;
		this.#inputsWait =
			this.#batch.onlyIfNothingWaits === true && session !== undefined && this.#somethingWaits(session);
		if (this.#inputsWait) return;
		const openRun = openRunAfter(before.openRun, this.#runId, this.#batch.facts);
		const standing = before.taken ? this.#keep(before, openRun) : this.#take(seen, openRun);
		lease.standing = this.#write(standing);
		this.#seq = lease.standing.seq;
	}

	undo(): void {
		if (this.#before === undefined) return;
		if (!this.#before.taken && this.lane.standing.taken) this.lane.store.worker.undo();
		this.lane.standing = this.#before;
		this.#before = undefined;
	}

	committed(): void {
		this.lane.pending--;
		if (this.#inputsWait) {
			this.#resolve({ ok: false, reason: "inputs-waiting" });
			return;
		}
		const { store, key } = this.lane;
		if (this.#before?.taken === false) this.#hold();
		this.#resolve({ ok: true, seq: this.#seq });
		store.feed.committed(key);
	}

	failed(error: Error): void {
		this.lane.pending--;
		if ((error as { code?: string }).code === "lease_lost") this.lane.lose();
		this.#reject(error);
	}

	/** The session as it is now, if it is as the lease has seen it. */
	#look(): SeenSession | undefined {
		const { standing, store, storedKey, mode } = this.lane;
		const now = store.statements.findSession.get(storedKey) as unknown as SeenSession | undefined;
		if (standing.session === undefined) {
			// It may exist by now, if only for an input that came.
			if (now === undefined || (now.seq === 0 && now.owner === null)) return now;
		} else if (
			now?.id === standing.session &&
			now.epoch === standing.epoch &&
			now.open_run === standing.openRun
		) {
			if (mode === "seize" || now.seq === standing.seq) return now;
		}
		throw leaseLost(this.lane.key);
	}

	#checkEpoch(): void {
		const { standing, store, key } = this.lane;
		const row = store.statements.sessionEpoch.get(standing.session as number) as
			| { epoch: number }
			| undefined;
		if (row?.epoch !== standing.epoch) throw leaseLost(key);
	}

	#somethingWaits(session: number): boolean {
		const waiting = this.lane.store.statements.waitingForRun.all(session, this.#runId) as { id: string }[];
		return waiting.some(({ id }) => this.#batch.drain?.includes(fromStored(id)) !== true);
	}

	#take(seen: SeenSession | undefined, openRun: string | null): Standing {
		const { statements, worker } = this.lane.store;
		const { at } = this.#batch;
		const owner = worker.present();
		const fresh = { taken: true, openRun, runId: undefined, runRow: null };
		if (seen === undefined) {
			const created = statements.createTakenSession.get(this.lane.storedKey, owner, openRun, at);
			const { id, epoch } = created as { id: number; epoch: number };
			return { ...fresh, session: id, epoch, seq: 0 };
		}
		const epoch = seen.epoch + 1;
		statements.takeSession.run(epoch, owner, openRun, at, seen.id);
		return { ...fresh, session: seen.id, epoch, seq: seen.seq };
	}

	#keep(before: Standing, openRun: string | null): Standing {
		if (openRun === before.openRun) return before;
		this.lane.store.statements.setOpenRun.run(openRun, this.#batch.at, before.session as number);
		return { ...before, openRun };
	}

	#write(standing: Standing): Standing {
		const { statements } = this.lane.store;
		const { at, drain = [] } = this.#batch;
		const session = standing.session as number;
		for (const id of drain) statements.drainInput.run(session, toStored(id));
		let { seq, runRow } = standing;
		if (standing.runId !== this.#runId) runRow = null;
		for (const { kind, version, body } of this.#facts) {
			const runId = runRow === null ? this.#runId : null;
			const written = statements.insertEntry.run(session, ++seq, runRow, runId, kind, version, at, body);
			runRow ??= Number(written.lastInsertRowid);
		}
		const runId = runRow === null ? standing.runId : this.#runId;
		return { ...standing, seq, runId, runRow: runRow ?? standing.runRow };
	}

	#hold(): void {
		const { store, standing } = this.lane;
		const session = standing.session as number;
		store.worker.committed();
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

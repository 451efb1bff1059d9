// A lease over a bare store. It is not a lock: it remembers the head it saw, and every append replaces exactly that head
// by compare-and-swap. A different writer that replaced the head has taken over the session, and this alone fences the
// old one (keeps I4). An append writes a new segment, and then the head that refers to it (keeps I3, I5).

import {
	type Append,
	type AppendResult,
	duplicateInput,
	foldUnsupported,
	journalClosed,
	type Lease,
	leaseLost,
	lookAt,
	type SessionStore,
	type StoredInput,
} from "holdfast/host";
import { type Claim, keepClaim, orderOf } from "./claims.ts";
import { headKey, segmentKey } from "./derived-keys.ts";
import { commitDocument, deleteDocuments, loadDocument, sessionConflict, type Version } from "./documents.ts";
import { type Head, type Span, storeFormat } from "./head.ts";
import { encodeFacts, type Segment } from "./segments.ts";
import { fence, type StoreProcess } from "./store-process.ts";

/** A head, or its absence, with its version. */
export interface Seen {
	readonly head: Head | undefined;
	readonly version: Version | null;
}

/** The journal parts that a lease needs. */
export interface JournalParts {
	readonly store: SessionStore;
	readonly process: StoreProcess;
	readonly workerId: string;
	newId(): string;
	isClosed(): boolean;
	look(key: string): Promise<Seen>;
	/** Registers work to finish before the journal is closed. */
	pending(work: Promise<unknown>): void;
}

export class StoreLease implements Lease {
	readonly key: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly #journal: JournalParts;
	readonly #mode: "polite" | "seize";
	readonly #id: string;
	#seen: Seen;
	#base: Head;
	#taken = false;
	#over = false;
	#notify: (() => void) | undefined;
	#last: Promise<unknown> = Promise.resolve();

	/** `base` is the head as read, or the initial head of a new session. */
	constructor(journal: JournalParts, key: string, mode: "polite" | "seize", seen: Seen, base: Head) {
		this.#journal = journal;
		this.#mode = mode;
		this.#id = journal.newId();
		this.#seen = seen;
		this.#base = base;
		this.key = key;
		this.seq = base.seq;
		if (base.openRunId !== null) this.openRunId = base.openRunId;
	}

	get epoch(): number {
		const { epoch } = this.#base;
		if (this.#taken) return epoch;
		// A session created here may have been created and deleted by others since it was read.
		const deleted = this.#seen.head === undefined ? this.#journal.process.highestDeletedEpoch : 0;
		return Math.max(epoch, deleted) + 1;
	}

	get isLost(): boolean {
		return this.#over;
	}

	whenLost(notify: (() => void) | undefined): void {
		const { listening } = this.#journal.process;
		this.#notify = notify;
		if (notify === undefined) listening.delete(this);
		else if (!this.#over) {
			listening.add(this);
			queueMicrotask(() => this.noticeFence());
		}
	}

	/** Checks whether this process seized or deleted the session. */
	noticeFence(): void {
		const fenced = this.#journal.process.fences.get(this.key);
		if (fenced === undefined || this.#over || !this.#taken || this.#base.epoch > fenced) return;
		const notify = this.#notify;
		this.#end();
		notify?.();
	}

	append(batch: Append): Promise<AppendResult> {
		return this.#inTurn(() => this.#append(batch));
	}

	inbox(): Promise<readonly StoredInput[]> {
		return this.#inTurn(async () => {
			const seen = await this.#journal.look(this.key);
			if (!this.#over && this.#onlyInputsCame(seen.head)) this.#see(seen);
			return seen.head?.inbox ?? [];
		});
	}

	release(): Promise<void> {
		if (this.#over || this.#journal.isClosed()) return Promise.resolve();
		const released = this.#inTurn(async () => {
			while (this.#taken && this.#base.openRunId !== null) {
				const { appends } = this.#base;
				if (await this.#replace({ ...this.#base, appends: appends + 1, held: false })) return;
				const seen = await this.#journal.look(this.key);
				if (!this.#onlyInputsCame(seen.head)) return;
				this.#see(seen);
			}
		});
		return released.finally(() => this.#end());
	}

	/** Runs calls one after another, in call order; calls started before the journal is closed finish. */
	#inTurn<T>(work: () => Promise<T>): Promise<T> {
		if (this.#journal.isClosed()) return Promise.reject(journalClosed());
		const turn = this.#last.then(work);
		this.#last = turn.catch(() => {});
		this.#journal.pending(this.#last);
		return turn;
	}

	async #append(batch: Append): Promise<AppendResult> {
		this.noticeFence();
		if (this.#over) throw leaseLost(this.key);
		if (batch.replaces !== undefined) throw foldUnsupported("store");
		const facts = encodeFacts(batch);
		if (!this.#taken && this.#mode === "seize") await this.#lookAgain();
		let written: string | undefined;
		try {
			await this.#checkDrained(batch.drain ?? []);
			for (;;) {
				const { dedupeKey } = batch;
				const { store } = this.#journal;
				if (
					dedupeKey !== undefined &&
					(await orderOf(store, this.key, this.#base, dedupeKey)) !== undefined
				) {
					if (written !== undefined) await deleteDocuments(store, [written]);
					throw duplicateInput(this.key);
				}
				if (batch.onlyIfNothingWaits && somethingWaits(this.#base, batch)) {
					if (written !== undefined) await deleteDocuments(this.#journal.store, [written]);
					return { ok: false, reason: "inputs-waiting" };
				}
				const { head, segment, claims } = this.#next(batch, facts);
				if (segment !== undefined && written === undefined) {
					written = segmentKey(this.key, this.#id, (head.span as Span).to);
					await this.#write(written, segment);
				}
				for (const claim of claims) await keepClaim(store, this.key, this.#base, claim);
				if (await this.#replace(head)) return this.#appended(head);
				const seen = await this.#journal.look(this.key);
				if (seen.head?.leaseId === this.#id && seen.head.appends === head.appends) {
					// The store had committed it, and then rejected its own retry as outdated.
					this.#see(seen);
					return this.#appended(head);
				}
				if (!this.#onlyInputsCame(seen.head)) {
					const error = this.#moved(seen.head);
					if (written !== undefined) await deleteDocuments(this.#journal.store, [written]).catch(() => {});
					throw error;
				}
				this.#see(seen);
			}
		} catch (error) {
			// The commit's outcome is unknown, or another writer has the session: it must be read again.
			if ((error as { code?: unknown }).code !== "duplicate_input") this.#end();
			throw error;
		}
	}

	/**
	 * If the inbox lacks an input, it was deleted with its session or another writer accepted it: the session has
	 * changed.
	 */
	async #checkDrained(drain: readonly string[]): Promise<void> {
		const waits = (id: string): boolean => this.#base.inbox.some((input) => input.id === id);
		if (drain.every(waits)) return;
		const seen = await this.#journal.look(this.key);
		if (this.#onlyInputsCame(seen.head)) this.#see(seen);
		if (!drain.every(waits)) throw leaseLost(this.key);
	}

	/** Writes a segment. An existing one under its key is identical, because keys are unique to the writer. */
	async #write(place: string, segment: Segment): Promise<void> {
		const { store } = this.#journal;
		if ((await commitDocument(store, place, segment, null)) !== undefined) return;
		if ((await loadDocument(store, place)) === undefined) throw this.#moved(undefined);
	}

	/** A seized session may have changed since it was read, but must not have a different owner or run. */
	async #lookAgain(): Promise<void> {
		const seen = await this.#journal.look(this.key);
		const { head } = seen;
		const before = this.#seen.head;
		const sameHands =
			head?.epoch === before?.epoch &&
			head?.generation === before?.generation &&
			head?.openRunId === before?.openRunId;
		if (!sameHands) {
			this.#end();
			throw leaseLost(this.key);
		}
		this.#see(seen);
	}

	/** Whether a head differs from the one seen only by submitted inputs, so that there was no other writer. */
	#onlyInputsCame(head: Head | undefined): boolean {
		if (head === undefined) return false;
		const base = this.#base;
		// A session that did not exist when it was read may since have been created by an input.
		const isSame = this.#seen.head === undefined || head.generation === base.generation;
		return (
			isSame && head.leaseId === base.leaseId && head.appends === base.appends && head.inputs > base.inputs
		);
	}

	#see(seen: Seen): void {
		this.#seen = seen;
		if (seen.head !== undefined) this.#base = seen.head;
	}

	/** Returns the head after an append, and the segment to write for it. */
	#next(batch: Append, facts: Segment["facts"]): { head: Head; segment?: Segment; claims: Claim[] } {
		const base = this.#base;
		const { runId, at, dedupeKey: begun } = batch;
		const drained = new Set(batch.drain);
		const claims: Claim[] = base.inbox.flatMap(({ id, dedupeKey, order }) =>
			dedupeKey !== undefined && drained.has(id) ? [{ dedupeKey, order }] : [],
		);
		const claimed = claims.map(({ dedupeKey }) => dedupeKey);
		if (begun !== undefined) {
			claimed.push(begun);
			// Until now, the head contained it.
			if (base.claimed !== undefined) claims.push({ dedupeKey: base.claimed, order: 0 });
		}
		let openRunId = base.openRunId;
		for (const { kind } of batch.facts) {
			if (kind === "run.started") openRunId = runId;
			else if (kind === "run.ended" && openRunId === runId) openRunId = null;
		}
		const head: Head = {
			...base,
			epoch: this.epoch,
			seq: base.seq + facts.length,
			openRunId,
			parked: facts.length === 0 ? base.parked === true : batch.facts.at(-1)?.kind === "run.parked",
			lookAt: lookAt(batch.facts, base.lookAt ?? null),
			leaseId: this.#id,
			workerId: this.#journal.workerId,
			appends: base.appends + 1,
			held: true,
			inbox: base.inbox.filter(({ id }) => !drained.has(id)),
			claims: base.claims + claimed.length,
			...(begun === undefined ? {} : { claimed: begun }),
			updatedAt: at,
		};
		if (facts.length === 0 && claimed.length === 0) return { head, claims };
		const { span } = base;
		const own = span?.leaseId === this.#id;
		const number = (span?.to ?? 0) + 1;
		const segment: Segment = {
			format: storeFormat,
			seq: base.seq,
			at,
			runId,
			facts,
			...(own ? {} : { previous: span }),
			...(claimed.length === 0 ? {} : { claimed }),
		};
		const next: Span = own
			? { ...span, to: number }
			: { leaseId: this.#id, from: number, to: number, seq: base.seq };
		return { head: { ...head, span: next }, segment, claims };
	}

	/** Replaces the head that was seen; returns whether that succeeded. */
	async #replace(next: Head): Promise<boolean> {
		const place = headKey(this.key);
		const head = { ...next, epoch: this.epoch };
		const replaced = await commitDocument(this.#journal.store, place, head, this.#seen.version);
		if (replaced !== undefined) this.#see({ head, version: replaced.version });
		return replaced !== undefined;
	}

	#appended(head: Head): AppendResult {
		const { process } = this.#journal;
		if (!this.#taken && this.#mode === "seize") fence(process, this.key, head.epoch - 1);
		this.#taken = true;
		process.watchers.changed(this.key);
		return { ok: true, seq: head.seq };
	}

	/**
	 * Returns why an append is refused: this process has taken or deleted the session since, or there was another writer.
	 */
	#moved(head: Head | undefined): Error {
		const { workerId, process } = this.#journal;
		const isFenced = (process.fences.get(this.key) ?? -1) >= this.#base.epoch;
		const isOwn = isFenced || (head?.workerId === workerId && head.leaseId !== this.#id);
		return isOwn || this.#mode === "seize" ? leaseLost(this.key) : sessionConflict(this.key);
	}

	#end(): void {
		this.#over = true;
		this.#journal.process.listening.delete(this);
	}
}

function somethingWaits({ inbox }: Head, { runId, drain }: Append): boolean {
	return inbox.some(
		(input) =>
			input.kind !== "message" &&
			(input.runId === undefined || input.runId === runId) &&
			drain?.includes(input.id) !== true,
	);
}

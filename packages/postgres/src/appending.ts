// One append of a lease in flight (keeps I3, I4).
import type { HoldfastError } from "@holdfast/upp";
import {
	type Append,
	type AppendResult,
	duplicateInput,
	type EncodedFact,
	historyUnsettled,
	leaseLost,
	lookAt,
	toStored,
} from "holdfast/host";
import type { PlainAppend, Write, WriteResult } from "./commit-queue.ts";
import { digest } from "./digest.ts";
import type { PostgresLease } from "./postgres-lease.ts";

let leases = 0;
const numbers = new WeakMap<PostgresLease, string>();

/** Returns a name for a lease within this process. */
function numberOf(lease: PostgresLease): string {
	const known = numbers.get(lease);
	if (known !== undefined) return known;
	const number = String(++leases);
	numbers.set(lease, number);
	return number;
}

/** One append in flight. */
export class Appending implements Write {
	readonly owner: PostgresLease;
	readonly sessions: readonly string[];
	readonly #batch: Append;
	readonly #facts: readonly EncodedFact[];
	readonly #chunks: readonly (readonly [sub: number, body: string])[];
	readonly #resolve: (result: AppendResult) => void;
	readonly #reject: (error: HoldfastError) => void;

	constructor(
		lease: PostgresLease,
		batch: Append,
		facts: readonly EncodedFact[],
		resolve: (result: AppendResult) => void,
		reject: (error: HoldfastError) => void,
	) {
		this.owner = lease;
		this.sessions = [lease.digest];
		this.#batch = batch;
		this.#facts = facts;
		this.#chunks = (batch.chunks ?? []).map(({ sub, event }) => [sub, JSON.stringify(event)]);
		this.#resolve = resolve;
		this.#reject = reject;
	}

	/** The first append of a lease raises the epoch. */
	get takes(): boolean {
		return this.owner.isFirst;
	}

	encode(): Readonly<Record<string, unknown>> {
		const { owner: lease, sessions } = this;
		if (lease.isLost && !lease.isReleased) throw leaseLost(lease.key);
		const { at, runId, facts, drain, dedupeKey, replaces, onlyIfNothingWaits } = this.#batch;
		const { taken, session = null, epoch, seq, openRun } = lease.state;
		return {
			o: "append",
			h: sessions[0],
			k: lease.storedKey,
			l: numberOf(lease),
			w: lease.store.worker(),
			t: taken,
			id: session,
			e: epoch,
			...(taken ? {} : { q: seq, r: openRun, m: lease.mode }),
			at,
			run: toStored(runId),
			f: this.#facts.map(({ kind, version, body }) => [kind, version, body]),
			...(this.#chunks.length === 0 ? {} : { c: this.#chunks }),
			...(drain === undefined || drain.length === 0 ? {} : { d: drain.map(toStored) }),
			...(dedupeKey === undefined ? {} : { dk: toStored(dedupeKey), dh: digest(toStored(dedupeKey)) }),
			...(onlyIfNothingWaits === true ? { only: true } : {}),
			...(replaces === undefined ? {} : { rep: replaces }),
			x: openRunAfter(facts),
			...(facts.length === 0 ? {} : { look: lookAt(facts, null) }),
		};
	}

	plain(): PlainAppend | undefined {
		const { owner: lease } = this;
		const { at, runId, facts, drain = [], dedupeKey, replaces, onlyIfNothingWaits } = this.#batch;
		const { taken, session, epoch } = lease.state;
		if (!taken || session === undefined || drain.length > 0) return undefined;
		if (dedupeKey !== undefined || replaces !== undefined) return undefined;
		if (lease.isLost && !lease.isReleased) throw leaseLost(lease.key);
		const bodies = this.#facts.reduce((sum, { body }) => sum + body.length, 0);
		return {
			session,
			epoch,
			run: toStored(runId),
			at,
			change: openRunAfter(facts),
			look: facts.length === 0 ? undefined : lookAt(facts, null),
			only: onlyIfNothingWaits === true,
			facts: this.#facts,
			chunks: this.#chunks,
			bytes: this.#chunks.reduce((sum, [, body]) => sum + body.length, bodies),
		};
	}

	done([outcome, session, epoch, seq]: WriteResult): void {
		const { owner: lease } = this;
		lease.pending--;
		switch (outcome) {
			case "ok": {
				const first = !lease.state.taken;
				const { runId, facts } = this.#batch;
				const openRun = openRunOf(openRunAfter(facts), toStored(runId), lease.state.openRun);
				lease.state = {
					taken: true,
					session: session as number,
					epoch: epoch as number,
					seq: seq as number,
					openRun,
				};
				if (first) lease.hold();
				this.#resolve({ ok: true, seq: seq as number });
				lease.store.feed.committed(lease.key);
				return;
			}
			case "waits":
				this.#resolve({ ok: false, reason: "inputs-waiting" });
				return;
			case "known":
				this.#reject(duplicateInput(lease.key));
				return;
			case "unsettled":
				this.#reject(historyUnsettled(lease.key, this.#batch.replaces ?? 0));
				return;
			default:
				lease.lose();
				this.#reject(leaseLost(lease.key));
		}
	}

	failed(error: HoldfastError): void {
		this.owner.pending--;
		// If the server is unavailable, the outcome is unknown, so the session is acquired again from its stored state.
		if (error.code === "lease_lost" || error.code === "db_unavailable") this.owner.lose();
		this.#reject(error);
	}
}

/**
 * Returns how facts change the open run of their session: they start a run, end whichever is open, end their own, or
 * change nothing.
 */
function openRunAfter(facts: Append["facts"]): "open" | "end" | "own" | "keep" {
	let open: "open" | "end" | "own" | "keep" = "keep";
	for (const { kind } of facts) {
		if (kind === "run.started") open = "open";
		else if (kind === "run.ended") open = open === "open" ? "end" : open === "keep" ? "own" : open;
	}
	return open;
}

function openRunOf(
	change: ReturnType<typeof openRunAfter>,
	runId: string,
	before: string | null,
): string | null {
	if (change === "open") return runId;
	if (change === "end" || (change === "own" && before === runId)) return null;
	return before;
}

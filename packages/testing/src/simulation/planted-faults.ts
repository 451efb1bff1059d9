// Faults planted to test whether the checks find them. They are inserted between the shipped code and its ports; the
// shipped code is unchanged.

import { type Append, type Fact, type Input, type Lease, readChildStoreKey } from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { AccessAtOnce, Holders, StoreUser } from "./store-access.ts";

/** Descriptions of the faults. */
export const plantedFaults: Readonly<Record<PlantedFault, string>> = {
	"lease-without-epoch": "an append is committed although the epoch was raised",
	"acknowledged-before-commit": "an append is acknowledged before it is committed",
	"kill-keeps-epoch": "a kill does not raise the epoch",
	"lost-wake-up": "changes are not notified, and timers do not fire",
	"late-settlement": "the result of a call that has one is recorded all the same",
	"ends-with-input-waiting": "a run is ended although an input for it waits",
	"drained-without-fact": "inputs leave the inbox that no fact took in",
	"reused-key": "ids repeat, and with them idempotency keys",
	"key-reused-by-fork": "a fork continues with an open run of its parent, under the same idempotency keys",
	"attempt-not-recorded": "a call is started without its fact",
	"lost-inbox-entry": "an input is acknowledged and not kept",
	"lost-answer": "an answer to a call of a run that another process works on is acknowledged and not kept",
	"doubled-append": "an append is committed twice",
	"reordered-appends": "appends are committed in another order than they were made",
	"forgotten-open-run": "sessions with an open run are not found by who recovers",
	"lease-for-two": "a living worker's lease is handed to another",
	"stale-read": "what is read lacks the last entry",
	"notice-without-key": "a notification of a session is not recognised when it is delivered once more",
	"begun-without-key": "an append that begins with an input of its own is not known by that input's key",
	"update-after-end": "an update of a task is emitted after its end",
	"reminded-by-namesake": "a session is reminded of work of the one that was deleted under its key",
	"forgotten-task": "a task in the background is not found among its parent's",
	"lost-schedule": "what is scheduled is forgotten",
	"gives-up-model": "a run is ended although its model is only busy",
	"unnoticed-child": "a sub-agent that has moved on since it waited looks as it did then",
	"hidden-child": "sessions of sub-agents are not found by who recovers",
};

/** Name of a planted fault. */
export type PlantedFault =
	| "lease-without-epoch"
	| "acknowledged-before-commit"
	| "kill-keeps-epoch"
	| "lost-wake-up"
	| "late-settlement"
	| "ends-with-input-waiting"
	| "drained-without-fact"
	| "reused-key"
	| "key-reused-by-fork"
	| "attempt-not-recorded"
	| "lost-inbox-entry"
	| "lost-answer"
	| "doubled-append"
	| "reordered-appends"
	| "forgotten-open-run"
	| "lease-for-two"
	| "stale-read"
	| "notice-without-key"
	| "begun-without-key"
	| "update-after-end"
	| "reminded-by-namesake"
	| "forgotten-task"
	| "lost-schedule"
	| "gives-up-model"
	| "unnoticed-child"
	| "hidden-child";

/** The context of a planted fault. */
export interface Planting {
	readonly user: StoreUser;
	readonly ledger: Ledger;
	readonly holders: Holders;
	readonly random: Random;
}

/** Returns the store with a fault; faults that do not affect the store leave it unchanged. */
export function withFault(
	fault: PlantedFault | undefined,
	access: AccessAtOnce,
	{ user, ledger, holders, random }: Planting,
): AccessAtOnce {
	switch (fault) {
		case "lease-without-epoch":
			return {
				...access,
				append(lease, batch) {
					try {
						return access.append(lease, batch);
					} catch {
						const seized = access.acquire(lease.key, "seize");
						if (!seized.ok) throw new Error("a seized lease was refused");
						const { epoch } = lease;
						const { key } = lease;
						const known = ledger.life(key).entries.length;
						const appended = seized.lease.append(batch) as ReturnType<AccessAtOnce["append"]>;
						if (!appended.ok || batch.replaces !== undefined) return appended;
						const seen = { added: access.read(key, { after: known }), waiting: access.inbox(key) };
						ledger.appended(key, user.name, epoch, batch, seen);
						return appended;
					}
				},
			};
		case "kill-keeps-epoch": {
			const seizing = new WeakSet<Lease>();
			return {
				...access,
				acquire(key, mode) {
					const acquired = access.acquire(key, mode);
					if (acquired.ok && mode === "seize") seizing.add(acquired.lease);
					return acquired;
				},
				append(lease, batch) {
					const holder = holders.get(lease.key);
					const fenced = seizing.has(lease) && holder !== undefined && !holder.isLost;
					return access.append(fenced ? holder : lease, batch);
				},
			};
		}
		case "ends-with-input-waiting":
			return appending(access, ({ onlyIfNothingWaits: _, ...batch }) => batch);
		case "drained-without-fact":
			return {
				...access,
				append(lease, batch) {
					const all = access.inbox(lease.key).map((input) => input.id);
					return access.append(lease, batch.drain === undefined ? batch : { ...batch, drain: all });
				},
			};
		case "key-reused-by-fork":
			return {
				...access,
				fork(from, to) {
					const acquired = access.acquire(to, "polite");
					if (!acquired.ok) throw new Error("a new session was held");
					// Reads raw entries, even during an open run.
					for (const { at, runId, fact } of access.read(from))
						acquired.lease.append({ at, runId, facts: [fact] });
					acquired.lease.release();
					ledger.forked(from, to, access.read(to));
				},
			};
		case "attempt-not-recorded":
			return appending(access, (batch) => ({ ...batch, facts: batch.facts.map(unrecorded) }));
		case "lost-inbox-entry":
			return {
				...access,
				submit: (key, input) =>
					random.chance(0.3) ? { duplicate: false, order: 0 } : access.submit(key, input),
			};
		case "lost-answer":
			return {
				...access,
				submit: (key, input) =>
					input.kind === "tool-result" ? { duplicate: false, order: 0 } : access.submit(key, input),
			};
		case "doubled-append":
			return {
				...access,
				append(lease, batch) {
					const appended = access.append(lease, batch);
					return appended.ok && random.chance(0.2) ? access.append(lease, batch) : appended;
				},
			};
		case "forgotten-task":
			return {
				...access,
				list(options) {
					const heads = access.list(options);
					return options?.prefix === undefined || random.chance(0.5) ? heads : heads.slice(1);
				},
			};
		case "notice-without-key":
			return submitting(access, ({ dedupeKey, ...input }) =>
				input.kind === "notice" || dedupeKey === undefined ? input : { ...input, dedupeKey },
			);
		case "reminded-by-namesake":
			return submitting(access, (input) =>
				input.askedBy?.incarnation === undefined ? input : forAny(input),
			);
		case "begun-without-key":
			return appending(access, ({ dedupeKey: _, ...batch }) => batch);
		case "forgotten-open-run":
			return {
				...access,
				list: (options) => access.list(options).filter((head) => head.openRunId === undefined),
			};
		case "unnoticed-child":
			return {
				...access,
				head(key) {
					const head = access.head(key);
					if (head === undefined || readChildStoreKey(key) === undefined) return head;
					const waited = access.read(key).findLast(({ fact }) => fact.kind === "waiting");
					return waited === undefined ? head : { ...head, seq: waited.seq };
				},
			};
		case "hidden-child":
			return {
				...access,
				list: (options) =>
					access.list(options).filter(({ key }) => {
						return options?.state !== "orphaned" || readChildStoreKey(key) === undefined;
					}),
			};
		case "lease-for-two":
			return {
				...access,
				acquire(key, mode) {
					const acquired = access.acquire(key, mode);
					const holder = holders.get(key);
					return acquired.ok || holder === undefined ? acquired : { ok: true, lease: holder };
				},
			};
		case "stale-read":
			return {
				...access,
				read(key, options) {
					const entries = access.read(key, options);
					return random.chance(0.3) ? entries.slice(0, -1) : entries;
				},
			};
		default:
			return access;
	}
}

function appending(access: AccessAtOnce, change: (batch: Append) => Append): AccessAtOnce {
	return { ...access, append: (lease, batch) => access.append(lease, change(batch)) };
}

function submitting(access: AccessAtOnce, change: (input: Input) => Input): AccessAtOnce {
	return { ...access, submit: (key, input) => access.submit(key, change(input)) };
}

/** Addresses an input to any session with its key. */
function forAny({ askedBy: _, ...input }: Input): Input {
	return input;
}

/** Replaces the attempt with another fact. */
function unrecorded(fact: Fact): Fact {
	if (fact.kind !== "tool.started") return fact;
	return { kind: "note", step: fact.step, topic: "nothing", value: null };
}

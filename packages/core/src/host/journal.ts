// The journal port: the store that the engine needs (keeps I2, I3, I4). Implementations: memory (memory.ts) and SQLite
// (sqlite/); `journalContract` in @holdfast/testing keeps them equal.
import type { MaybePromise } from "@holdfast/upp";
import type { Chunk, Committed, Entry, Fact, SourcePage, StoredChunk } from "../facts/index.ts";

/** A store that can answer synchronously does so; the engine awaits only real promises. */
export type { MaybePromise };

/** An input to a session from outside. It may be submitted at any time, without a lease (keeps I4). */
export interface Input {
	/** Unique among the inputs of its session. */
	readonly id: string;
	/**
	 * A `message` starts a run; the others affect an existing one. A `notice` without a run waits for the next one and
	 * starts none.
	 */
	readonly kind: "message" | "steer" | "stop" | "edit" | "tool-result" | "approval" | "timer" | "notice";
	/** The run that a `message` will start, or that any other kind is for. Absent: the active one. */
	readonly runId?: string;
	/** Two inputs of one session with the same key count as one, even if the first was accepted directly by an append. */
	readonly dedupeKey?: string;
	/** The worker whose caller waits for it. While that worker is alive, it starts the run. */
	readonly workerId?: string;
	/**
	 * The requester: the input is accepted only while that run is open or, without a run, while that session exists;
	 * otherwise `lease_lost`. With an incarnation, the session must still have it. Not stored with the input.
	 */
	readonly askedBy?: { readonly key: string; readonly runId?: string; readonly incarnation?: string };
	/** JSON-safe value (see upp's encodeValue). */
	readonly body: unknown;
}

/** An input as the store keeps it; the store assigns the order. */
export interface StoredInput extends Omit<Input, "askedBy"> {
	/** Its position among all inputs of the session, from 1. */
	readonly order: number;
	/** When it arrived, in milliseconds since the epoch. */
	readonly at: number;
}

/** The status of a session. */
export interface SessionHead {
	/** The session's key in the store. */
	readonly key: string;
	/** A new value whenever the session is created, including after a deletion: it identifies the incarnation. */
	readonly incarnation: string;
	/** Incremented with each takeover, so that former owners cannot append. */
	readonly epoch: number;
	/** Seq of the last entry; 0 if there is none. */
	readonly seq: number;
	/** The run that started and has not ended. */
	readonly openRunId?: string;
	/** Set if the open run is parked: it continues only after a release. */
	readonly parked?: true;
	/** The worker that holds the open run's lease, and whether it is alive. */
	readonly holder?: { readonly workerId: string; readonly alive: boolean };
	/** In milliseconds since the epoch. */
	readonly createdAt: number;
	/** Time of the last commit, in milliseconds since the epoch. */
	readonly updatedAt: number;
	/** Number of inputs waiting in the inbox. */
	readonly waiting: number;
}

/** Selects the chunks to read. */
export interface ReadChunks {
	/** Only those after this position. */
	readonly after: { readonly seq: number; readonly sub: number };
	/** Only those after entries up to this one. */
	readonly through: number;
	/** The maximum number. */
	readonly limit: number;
}

/** An initial value of a session, and its owner. */
export interface FirstValue {
	/** The owner of the value, such as a plugin. */
	readonly owner: string;
	/** Unique among the values of its owner. */
	readonly name: string;
	/** Plain data. */
	readonly value: unknown;
}

/** The content of one append, committed atomically. */
export interface Append {
	/** Milliseconds since the epoch, by the writer's clock. */
	readonly at: number;
	/** The run that the facts belong to. */
	readonly runId: string;
	/** The facts, in order; each becomes an entry. */
	readonly facts: readonly Fact[];
	/** Text emitted since the last entry. It precedes these facts, which may be empty. */
	readonly chunks?: readonly Chunk[];
	/**
	 * Key of the input that these facts start with, if it does not come from the inbox. A key that already exists rejects
	 * with `duplicate_input`.
	 */
	readonly dedupeKey?: string;
	/**
	 * Initial values of the session, stored in the same transaction if the host's values `comeWithAppend`, and ignored
	 * otherwise. Rejects with `session_exists` if the session already has entries or one of the values.
	 */
	readonly values?: readonly FirstValue[];
	/**
	 * Ids of inputs that these facts accepted. They are removed from the inbox in the same transaction. If one is
	 * missing: `lease_lost`.
	 */
	readonly drain?: readonly string[];
	/**
	 * The one fact, of kind `folded`, replaces all entries up to this seq, which must be that of a `run.ended` or an
	 * earlier `folded` fact. Rejects with `history_unsettled` if it is not, or while a run is open, and with
	 * `fold_unsupported` if the journal does not fold. `runId` and `at` are those of the replaced entry.
	 */
	readonly replaces?: number;
	/**
	 * Commit only if no input for this run (`steer`, `edit`, `tool-result`, `approval`, `timer`, `stop`, `notice`; with
	 * its run id or none) is waiting.
	 */
	readonly onlyIfNothingWaits?: true;
}

/** The position of the append, or the reason it was refused. */
export type AppendResult =
	| { readonly ok: true /** Seq of the last fact. */; readonly seq: number }
	| { readonly ok: false; readonly reason: "inputs-waiting" };

/**
 * The right to append to one session. It stays valid until the session's epoch is raised; an expired timer alone does not
 * end it. Acquiring it writes nothing: the first append takes over the session, and rejects with `lease_lost` if the
 * session has changed since the lease was requested. Each lease fences earlier ones, including those of the same worker.
 */
export interface Lease {
	/** The session's key. */
	readonly key: string;
	/** The epoch under which this lease appends; a prediction until its first append. */
	readonly epoch: number;
	/** Seq of the last entry when the lease was taken. */
	readonly seq: number;
	/** The run that was open when the lease was taken and has to be recovered. */
	readonly openRunId?: string;
	/** Whether it was released, or the store has detected a newer epoch. */
	readonly isLost: boolean;
	/**
	 * Calls `notify` once, when the store detects that another epoch is current. There is one listener; undefined removes
	 * it.
	 */
	whenLost(notify: (() => void) | undefined): void;
	/**
	 * Checks whether the epoch is still current; if not, `whenLost` is notified before this returns. For stores that can
	 * check synchronously: a process that was paused checks before it starts anything without a prior append. Must not
	 * throw.
	 */
	check?(): void;
	/**
	 * Appends in call order. Rejects with `lease_lost` if the epoch was raised, `duplicate_input`, `disk_full` if there
	 * is no space left, and `journal_failed` for any other failure of the store. In these cases nothing of the batch is
	 * committed.
	 */
	append(batch: Append): MaybePromise<AppendResult>;
	/** Returns the inputs waiting for this session, in order. */
	inbox(): MaybePromise<readonly StoredInput[]>;
	/** Releases the session. Has no effect if the lease is already lost. */
	release(): MaybePromise<void>;
}

/** A lease, or its current holder. `inbox`: the session's waiting inputs, if they were read with it. */
export type AcquireResult =
	| { readonly ok: true; readonly lease: Lease; readonly inbox?: readonly StoredInput[] }
	| { readonly ok: false; readonly heldBy: string };

/** Selects the entries of `read`. */
export interface ReadOptions {
	/** Only entries after this seq. Default 0. */
	readonly after?: number;
	/** The maximum number. Default: all. */
	readonly limit?: number;
}

/** Selects the sessions of `list`. */
export interface ListOptions {
	/** Only sessions whose key sorts after this one. */
	readonly after?: string;
	/** Only sessions whose key has this prefix. Default: any key. */
	readonly prefix?: string;
	/** The maximum number. Default: all. */
	readonly limit?: number;
	/**
	 * `open`: a run is unfinished. `orphaned`: a run is unfinished, not parked and without a live owner; or there is no
	 * run, but a `message` of a dead worker waits, or a `steer` that a worker submitted and no run accepted. `waiting`:
	 * according to the last entry, a run waits for an outside answer; such runs have no owner, and are not `orphaned`.
	 */
	readonly state?: "any" | "open" | "orphaned" | "waiting";
	/** Only sessions changed at or after this time, by their writer's clock, in milliseconds since the epoch. */
	readonly changedSince?: number;
	/**
	 * With `waiting`: only sessions with a call whose deadline is at or before this time, in milliseconds since the
	 * epoch.
	 */
	readonly dueBy?: number;
}

/** The port that a session store implements: entries, leases, inboxes. */
export interface Journal {
	/** A name for messages: `memory`, `sqlite`. */
	readonly name: string;
	/** Set if nothing survives the process. */
	readonly volatile?: true;
	/** Whether settled entries can be folded into one (`Append.replaces`). Absent: no. */
	readonly folds?: boolean;
	/** Identifies this holder among all that share the store. One per journal object. */
	readonly workerId: string;
	/**
	 * Takes the lease if the session is idle, new, or held by this worker, or its holder is dead or its lease has lapsed.
	 * `seize` also takes it from a live holder, by raising the epoch (kill, delete).
	 */
	acquire(key: string, options?: { readonly mode?: "polite" | "seize" }): MaybePromise<AcquireResult>;
	/**
	 * Puts an input into the session's inbox; it is durable once this returns. Creates the session if needed. The `order`
	 * of a duplicate is that of the first input, or 0 if the first was accepted directly by an append.
	 */
	submit(key: string, input: Input): MaybePromise<{ readonly duplicate: boolean; readonly order: number }>;
	/** Returns the inputs waiting for the session, in order. Needs no lease, and does not change the inbox. */
	inbox(key: string): MaybePromise<readonly StoredInput[]>;
	/**
	 * Returns entries in order. If the oldest were folded, the `folded` fact comes first. Rejects with `events_expired`
	 * if `after` is among the folded entries, because the entries that follow it no longer exist.
	 */
	read(key: string, options?: ReadOptions): MaybePromise<readonly Entry[]>;
	/** Returns chunks in order. They are deleted with the entries that are folded. Absent: the journal ignores chunks. */
	readChunks?(key: string, options: ReadChunks): MaybePromise<readonly StoredChunk[]>;
	/**
	 * Returns entries after a position and the chunks up to the last of them, with a limit for each, and their session:
	 * one consistent snapshot. Undefined if the session does not exist. Rejects as `read` does. Absent: followers request
	 * each separately.
	 */
	readPage?(key: string, options: Pick<ReadChunks, "after" | "limit">): MaybePromise<SourcePage | undefined>;
	/** Returns the status of a session; undefined if it does not exist. */
	head(key: string): MaybePromise<SessionHead | undefined>;
	/** Returns the sessions that match, in the order of their keys. */
	list(options?: ListOptions): MaybePromise<readonly SessionHead[]>;
	/** Whether that worker is alive: any worker may start an input of a dead one. Unknown workers count as dead. */
	isAlive(workerId: string): MaybePromise<boolean>;
	/**
	 * Returns a unique mark for each dead worker that is still remembered; each new mark is a death. Absent: deaths are
	 * not reported.
	 */
	deaths?(): MaybePromise<readonly string[]>;
	/**
	 * Calls `changed` after a commit of entries or inputs of the session in any process. Returns a function that stops
	 * it. A journal that has `readPage` may pass the commits of entries and chunks since the last call, in order, if this
	 * worker made all of them; otherwise the commits have to be read.
	 */
	watch(key: string, changed: (commits?: readonly Committed[]) => void): () => void;
	/**
	 * Copies the entries of a session up to a seq into a new one, atomically. Facts are unchanged, with their runs,
	 * positions and times; inputs are not copied. Rejects with `fork_unsettled` if a run is open at that entry or the
	 * entry does not exist, and with `session_exists` if the new key is in use. Needs no lease, and does not affect the
	 * copied session.
	 */
	fork(from: string, to: string, until: number): MaybePromise<void>;
	/**
	 * Deletes a session and fences its holder. Unknown keys are ignored. With `seen`, deletes it only if it has not
	 * changed since: if something was committed to it, rejects with `lease_lost` and removes nothing.
	 */
	delete(key: string, seen?: Pick<SessionHead, "epoch" | "seq">): MaybePromise<void>;
	/** Finishes pending commits, releases all leases, closes the store. */
	close(): MaybePromise<void>;
}

// The sessions of one agent in this process: one queue for each session, kept while the session works and for a while
// afterwards (keeps I7).

import { type ModelWait, modelWaitDefaults, type ObserveRun } from "../engine/index.ts";
import type { ExecutionCapabilities, Journal, SessionData, Timers } from "../host/index.ts";
import { readChildStoreKey } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { Later } from "./later.ts";
import { type LocalStore, localStore } from "./local-store.ts";
import { SessionActor } from "./session-actor.ts";
import { type QueueTable, SessionQueue } from "./session-queue.ts";
import type { SessionRecords } from "./session-records.ts";
import type { SessionAgent } from "./turn-agent.ts";
import { UnreadRuns } from "./unread-runs.ts";

/**
 * The number of idle sessions whose folded state stays in memory. Older ones are read again from the journal when used.
 */
const idleSessions = 1_000;

/** Options of a table, other than its agent and journal. */
export interface SessionTableOptions {
	/** Whether sub-agents may work in the background. Default: no. */
	readonly background?: ExecutionCapabilities["backgroundSubagents"] | undefined;
	/** The kind of its keys: callers' keys, or store keys of child sessions. Default `session-keys`. */
	readonly keys?: "session-keys" | "store-keys";
	/** Records of runs in addition to the journal. Default: none. */
	readonly records?: SessionRecords | undefined;
	/** An object shared by all tables over one store. Default: the journal. */
	readonly store?: object | undefined;
	/** Where the policies of sub-agents store data of their sessions. Default: in memory. */
	readonly data?: SessionData | undefined;
	/** The journal of the sessions that request the work of these sessions. Default: their own. */
	readonly askers?: Journal | undefined;
	/** Observes each run that is driven here. */
	readonly observe?: ObserveRun | undefined;
}

export class SessionTable implements QueueTable {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	readonly local: LocalStore;
	readonly later: Later;
	readonly timers: Timers;
	readonly background: ExecutionCapabilities["backgroundSubagents"];
	readonly records: SessionRecords | undefined;
	readonly store: object;
	readonly data: SessionData | undefined;
	readonly askers: Journal;
	readonly observe: ObserveRun | undefined;
	readonly unread: UnreadRuns;
	readonly #keys: "session-keys" | "store-keys";
	/** Queues by store key. */
	readonly #queues = new Map<string, SessionQueue>();
	/** Store keys of idle sessions, the oldest first. */
	readonly #idle = new Set<string>();
	/** A persistent iterator over the idle sessions: a new one would step over all the removed entries again. */
	readonly #oldest = this.#idle.values();
	/** Kills and deletions in progress, by store key. Later requests wait for the last of them. */
	readonly #fences = new Map<string, Promise<unknown>>();
	readonly #listeners = new Set<(run: AgentRun) => void>();
	/** `draining`: current work may finish, and no new work begins. */
	#state: "open" | "draining" | "closed" = "open";

	constructor(agent: SessionAgent, journal: Journal, options: SessionTableOptions = {}) {
		this.journal = journal;
		this.local = localStore(journal);
		this.timers = agent.engine.ports.timers;
		this.later = new Later(this.timers);
		this.background = options.background;
		this.records = options.records;
		this.store = options.store ?? journal;
		this.data = options.data;
		this.askers = options.askers ?? journal;
		this.observe = options.observe;
		this.#keys = options.keys ?? "session-keys";
		const { clock, eventLoop, lifetime } = agent.engine.ports;
		this.unread = new UnreadRuns({
			unread: agent.unread,
			clock,
			timers: this.timers,
			eventLoop,
			lifetime,
			isVolatile: () => journal.volatile === true,
			warn: agent.warn,
		});
		this.agent = agent.inTable?.(this) ?? agent;
	}

	/** Returns the store key of a session. */
	storeKeyOf(key: string): string {
		return this.#keys === "store-keys" ? key : this.agent.keys.storeKeyOf(key);
	}

	/** Returns the key of the session with a store key; undefined for sessions of other agents and child sessions. */
	keyOf(storeKey: string): string | undefined {
		return this.#keys === "store-keys" ? storeKey : this.agent.keys.keyOf(storeKey);
	}

	/** Returns the key by which callers refer to a session; undefined for sessions of sub-agents. */
	callersKeyOf(storeKey: string): string | undefined {
		return this.#keys === "store-keys" ? undefined : this.keyOf(storeKey);
	}

	/** Returns the table that contains a session: this one, or that of a sub-agent; undefined for others' sessions. */
	tableOf(storeKey: string): SessionTable | undefined {
		const child = readChildStoreKey(storeKey);
		if (child === undefined) return this.keyOf(storeKey) === undefined ? undefined : this;
		return this.tableOf(child.parentStoreKey)?.agent.children?.tableOf(child.subagent);
	}

	/** Returns the caller's key of a session, or of the session that its work is for; undefined for others' sessions. */
	rootKeyOf(storeKey: string): string | undefined {
		const child = readChildStoreKey(storeKey);
		return child === undefined ? this.keyOf(storeKey) : this.rootKeyOf(child.parentStoreKey);
	}

	get modelWait(): ModelWait | undefined {
		const { modelWait = this.journal.volatile === true ? "never" : modelWaitDefaults } = this.agent;
		return modelWait === "never" ? undefined : modelWait;
	}

	/**
	 * Called before a request goes to an idle session. If many begin at once, the request waits for those before it and
	 * creates no objects until then. Otherwise, all their intermediate objects would be alive at once, and most of the
	 * time would go into garbage collection.
	 */
	moment({ isIdle }: SessionQueue): Promise<void> | undefined {
		if (!isIdle) return undefined;
		const { fairness } = this.agent.engine;
		// The requesting queue is not idle.
		const othersWork = this.#queues.size > this.#idle.size + 1;
		return othersWork ? fairness.turn() : fairness.begin();
	}

	/**
	 * Ends the lifetime of a session: later requests for its key concern the next session, and wait until `end` settles.
	 */
	async fence(
		queue: SessionQueue,
		end: (before: Promise<unknown> | undefined) => Promise<void>,
	): Promise<void> {
		const { storeKey } = queue;
		this.#forget(queue);
		// A hook that the queue waits for may use the next session of this key.
		const isInside = queue.isAskedInside();
		const ended = end(this.#fences.get(storeKey));
		// A request may have started a run after that, which is ended too.
		const last = ended
			.catch(() => {})
			.then(() => (isInside ? undefined : queue.quiet()))
			.then(() => queue.made?.late);
		// A stopped run still has to leave the session before it can be acquired here again.
		const over = last
			.then(() => queue.made?.turn?.over)
			.then(() => {
				if (this.#fences.get(storeKey) === over) this.#fences.delete(storeKey);
			});
		this.#fences.set(storeKey, over);
		await ended;
		await last;
	}

	/** A run that another process left open, or a turn of a dead process, is driven here from now on. */
	resumed(run: AgentRun): void {
		for (const notify of this.#listeners) notify(run);
	}

	/** Calls `notify` with each run of another process that is resumed here. Returns a function that stops this. */
	onResumed(notify: (run: AgentRun) => void): () => void {
		this.#listeners.add(notify);
		return () => this.#listeners.delete(notify);
	}

	/** Returns the only queue of the session with this key. */
	queue(key: string): SessionQueue {
		return this.queueOf(this.storeKeyOf(key), key);
	}

	/** Returns the only queue of the session with this store key. */
	queueOf(storeKey: string, key: string): SessionQueue {
		const known = this.#queues.get(storeKey);
		if (known !== undefined) {
			this.#idle.delete(storeKey);
			return known;
		}
		const queue = new SessionQueue(this, storeKey, key, this.#fences.get(storeKey));
		if (this.#state !== "closed") this.#queues.set(storeKey, queue);
		return queue;
	}

	makeActor(queue: SessionQueue): SessionActor {
		const actor = new SessionActor(this, queue);
		if (this.#state === "closed") void actor.close();
		return actor;
	}

	/** Whether this process watches the time limits of that session's calls. */
	watchesDeadline(storeKey: string): boolean {
		if (this.#queues.get(storeKey)?.made?.watchesDeadline === true) return true;
		const child = readChildStoreKey(storeKey);
		if (child === undefined) return false;
		// When the wait of a foreground sub-agent is due, so is its parent's.
		const table = this.tableOf(storeKey);
		const isWatched = table !== this && table?.watchesDeadline(storeKey) === true;
		return isWatched || this.watchesDeadline(child.parentStoreKey);
	}

	/** Whether a run of the session is in progress. */
	isBusy(key: string): boolean {
		return this.#queues.get(this.storeKeyOf(key))?.made?.turn !== undefined;
	}

	/** Resolves when no run is in progress. */
	async quiet(): Promise<void> {
		for (;;) {
			const underWay = [...this.#queues.values()].flatMap(({ made }) => made?.turn?.over ?? []);
			if (underWay.length === 0) return;
			await Promise.allSettled(underWay);
		}
	}

	/** The session of a key is unused for now and may be dropped from memory. */
	unused(key: string): void {
		const storeKey = this.storeKeyOf(key);
		if (this.#queues.get(storeKey)?.isIdle === true) this.rested(storeKey);
	}

	/** Refuses requests that would begin work, from now on. */
	drain(): void {
		if (this.#state === "open") this.#state = "draining";
	}

	get isDraining(): boolean {
		return this.#state === "draining";
	}

	/** Suspends all runs in progress and waits until they are left. `what`: whether they can be resumed after that. */
	async close(what: "kept" | "lost" = "kept"): Promise<void> {
		this.#state = "closed";
		this.unread.close(what);
		this.later.close();
		await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
		this.#queues.clear();
		this.#idle.clear();
		await this.agent.children?.close();
	}

	/** The next handle of the session gets another queue. */
	#forget(queue: SessionQueue): void {
		if (this.#queues.get(queue.storeKey) === queue) this.#queues.delete(queue.storeKey);
		this.#idle.delete(queue.storeKey);
	}

	/** The session has become idle, with an empty queue. */
	rested(storeKey: string): void {
		if (!this.#queues.has(storeKey)) return;
		this.#idle.delete(storeKey);
		this.#idle.add(storeKey);
		if (this.#idle.size <= idleSessions) return;
		const oldest = this.#oldest.next().value as string;
		this.#idle.delete(oldest);
		if (this.#queues.get(oldest)?.retire() === true) this.#queues.delete(oldest);
	}
}

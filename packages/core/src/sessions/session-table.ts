// The sessions of one agent in this process: one queue for each session, kept while the session works and for a while
// afterwards (keeps I7).

import { type ModelWait, modelWaitDefaults, type ObserveRun } from "../engine/index.ts";
import type { ExecutionCapabilities, Journal, Timers } from "../host/index.ts";
import { readChildStoreKey } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { Later } from "./later.ts";
import { type LocalStore, localStore } from "./local-store.ts";
import { SessionActor } from "./session-actor.ts";
import { type QueueTable, SessionQueue } from "./session-queue.ts";
import type { SessionRecords } from "./session-records.ts";
import type { SessionAgent } from "./turn-agent.ts";
import { UnreadRuns } from "./unread-runs.ts";

/** How many idle sessions keep their folded state in memory; older ones are read again from the journal when used. */
const idleSessions = 1_000;

/** Options of a table, other than its agent and journal. */
export interface SessionTableOptions {
	/** Whether sub-agents may work in the background. Default: they may not. */
	readonly background?: ExecutionCapabilities["backgroundSubagents"] | undefined;
	/** The kind of its keys: callers' keys, or store keys of child sessions. Default `session-keys`. */
	readonly keys?: "session-keys" | "store-keys";
	/** Records of runs in addition to the journal. Default: none. */
	readonly records?: SessionRecords | undefined;
	/** An object shared by all tables over one store. Default: the journal. */
	readonly store?: object | undefined;
	/** The journal of the sessions that ask for the work of these. Default: their own. */
	readonly askers?: Journal | undefined;
	/** Looks on at each run that is driven here. */
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
	readonly askers: Journal;
	readonly observe: ObserveRun | undefined;
	readonly unread: UnreadRuns;
	readonly #keys: "session-keys" | "store-keys";
	/** By store key. */
	readonly #queues = new Map<string, SessionQueue>();
	/** Store keys of sessions with nothing to do, the oldest first. */
	readonly #idle = new Set<string>();
	/** Goes through them, kept: what is before it was removed, and a new one would pass all those again. */
	readonly #oldest = this.#idle.values();
	/** Running kills and deletions, by store key. Later requests wait for the last of them. */
	readonly #fences = new Map<string, Promise<unknown>>();
	readonly #listeners = new Set<(run: AgentRun) => void>();
	/** `draining`: what is under way may end, and nothing else begins. */
	#state: "open" | "draining" | "closed" = "open";

	constructor(agent: SessionAgent, journal: Journal, options: SessionTableOptions = {}) {
		this.journal = journal;
		this.local = localStore(journal);
		this.timers = agent.engine.ports.timers;
		this.later = new Later(this.timers);
		this.background = options.background;
		this.records = options.records;
		this.store = options.store ?? journal;
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

	/** Under what key the session of a key is in the store. */
	storeKeyOf(key: string): string {
		return this.#keys === "store-keys" ? key : this.agent.keys.storeKeyOf(key);
	}

	/** The key of the session with a store key; undefined for sessions of other agents and child sessions. */
	keyOf(storeKey: string): string | undefined {
		return this.#keys === "store-keys" ? storeKey : this.agent.keys.keyOf(storeKey);
	}

	/** The key by which callers know a session; undefined for sessions of sub-agents. */
	callersKeyOf(storeKey: string): string | undefined {
		return this.#keys === "store-keys" ? undefined : this.keyOf(storeKey);
	}

	/** The table that a session is of: this one, or that of a sub-agent; undefined for others' sessions. */
	tableOf(storeKey: string): SessionTable | undefined {
		const child = readChildStoreKey(storeKey);
		if (child === undefined) return this.keyOf(storeKey) === undefined ? undefined : this;
		return this.tableOf(child.parentStoreKey)?.agent.children?.tableOf(child.subagent);
	}

	/** The caller's key of a session, or of the session that its work is for; undefined for others' sessions. */
	rootKeyOf(storeKey: string): string | undefined {
		const child = readChildStoreKey(storeKey);
		return child === undefined ? this.keyOf(storeKey) : this.rootKeyOf(child.parentStoreKey);
	}

	get modelWait(): ModelWait | undefined {
		const { modelWait = this.journal.volatile === true ? "never" : modelWaitDefaults } = this.agent;
		return modelWait === "never" ? undefined : modelWait;
	}

	/**
	 * Asked before something is sent to a session at rest. Where many begin at once, it waits for those before it, and nothing is
	 * made of it until then: what they all need would be alive together, and most of the time would go into collecting garbage.
	 */
	moment({ isIdle }: SessionQueue): Promise<void> | undefined {
		if (!isIdle) return undefined;
		const { fairness } = this.agent.engine;
		// The requesting queue is not idle.
		const othersWork = this.#queues.size > this.#idle.size + 1;
		return othersWork ? fairness.turn() : fairness.begin();
	}

	/** Ends the life of a session: what is asked of its key from now on is for the next one, and waits until `end` settles. */
	async fence(
		queue: SessionQueue,
		end: (before: Promise<unknown> | undefined) => Promise<void>,
	): Promise<void> {
		const { storeKey } = queue;
		this.#forget(queue);
		// A hook that the queue waits for may continue with the next life of the session.
		const isInside = queue.isAskedInside();
		const ended = end(this.#fences.get(storeKey));
		// A request may have started a run after that, which is ended too.
		const last = ended
			.catch(() => {})
			.then(() => (isInside ? undefined : queue.quiet()))
			.then(() => queue.made?.late);
		// A run that was stopped still leaves the session: then it can be acquired here again.
		const over = last
			.then(() => queue.made?.turn?.over)
			.then(() => {
				if (this.#fences.get(storeKey) === over) this.#fences.delete(storeKey);
			});
		this.#fences.set(storeKey, over);
		await ended;
		await last;
	}

	/** A run that a process left open, or a turn of a dead process, is driven here from now on. */
	resumed(run: AgentRun): void {
		for (const notify of this.#listeners) notify(run);
	}

	/** Calls `notify` with each run of others that is driven here from now on. Returns the way to stop. */
	onResumed(notify: (run: AgentRun) => void): () => void {
		this.#listeners.add(notify);
		return () => this.#listeners.delete(notify);
	}

	/** The one queue of the session of a key. */
	queue(key: string): SessionQueue {
		return this.queueOf(this.storeKeyOf(key), key);
	}

	/** The one queue of the session of a store key. */
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
		// A wait of a sub-agent in the foreground is due for its parent, too.
		const table = this.tableOf(storeKey);
		const isWatched = table !== this && table?.watchesDeadline(storeKey) === true;
		return isWatched || this.watchesDeadline(child.parentStoreKey);
	}

	/** Whether a run of the session of a key is under way. */
	isBusy(key: string): boolean {
		return this.#queues.get(this.storeKeyOf(key))?.made?.turn !== undefined;
	}

	/** Resolves when no run is under way. */
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

	/** Suspends all runs under way and waits until they are left. `what`: whether they can be resumed after that. */
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

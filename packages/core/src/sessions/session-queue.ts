// The queue of one session in this process. It runs one request at a time, in call order. The ordering table in
// docs/adr/021-a-session-is-a-queue.md defines the effect of each request (keeps I4).
//
//   idle      nothing runs; the next request runs within its call
//   busy      a request runs, or the session's own work, which precedes queued requests
//   retired   the session was dropped from memory; requests go to the table's current queue
//
// Kills, deletions and interrupts are not queued. A kill ends the queue: its requests are refused, and later requests get
// a new queue, which is busy until the kill has ended.
import { isAwaitedBy, waitFor, withinCall } from "../engine/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { SessionActor } from "./session-actor.ts";
import { agentClosed, awaitsItself } from "./session-errors.ts";

/** The kinds of requests to a session. `look` and `expire` come from this process itself. */
export type RequestKind =
	| "send"
	| "start"
	| "steer"
	| "edit"
	| "answer"
	| "stop"
	| "interrupt"
	| "resume"
	| "deliver"
	| "fork"
	| "look"
	| "expire";

/** `inside`: the request comes from code that the queue waits for. It runs at once, and must not open the session. */
export type Place = "in-line" | "inside";

/** Requests that only put something into the inbox. Code that the queue waits for may make them. */
const storable: ReadonlySet<RequestKind> = new Set(["send", "edit", "deliver"]);

/** Requests that begin work, and are refused while the sessions are draining. */
const begins: ReadonlySet<RequestKind> = new Set(["send", "start", "steer", "answer", "resume"]);

/** The part of its table that a queue uses. */
export interface QueueTable {
	/** Whether current work may finish and no new work may begin. */
	readonly isDraining: boolean;
	makeActor(queue: SessionQueue): SessionActor;
	/** Returns the current queue of the session. */
	queueOf(storeKey: string, key: string): SessionQueue;
	/** If many sessions begin at once, returns a promise until which an idle session must wait for those before it. */
	moment(queue: SessionQueue): Promise<void> | undefined;
	/** The queue runs no request and none is waiting. */
	rested(storeKey: string): void;
}

/** Ends the wait in line. An error means that the request is refused. */
type Waiting = (refusal?: Error) => void;

interface InLine {
	readonly end: Waiting;
	next: InLine | undefined;
}

export class SessionQueue {
	readonly storeKey: string;
	/** The caller's key. */
	readonly key: string;
	readonly #table: QueueTable;
	#actor: SessionActor | undefined;
	#state: "idle" | "busy" | "retired" = "idle";
	/**
	 * The first and the last waiting request: a linked list, so that removing the first costs the same for any length.
	 */
	#line: { first: InLine; last: InLine } | undefined;

	/** `fence`: the end of the previous session with this key, which requests wait for. */
	constructor(table: QueueTable, storeKey: string, key: string, fence: Promise<unknown> | undefined) {
		this.#table = table;
		this.storeKey = storeKey;
		this.key = key;
		if (fence === undefined) return;
		this.#state = "busy";
		void fence.then(() => this.#next());
	}

	/** The actor that runs the requests; created on first use. */
	get actor(): SessionActor {
		this.#actor ??= this.#table.makeActor(this);
		return this.#actor;
	}

	/** The actor, if it has been created. */
	get made(): SessionActor | undefined {
		return this.#actor;
	}

	get isBusy(): boolean {
		return this.#state === "busy";
	}

	get isRetired(): boolean {
		return this.#state === "retired";
	}

	/** Whether no run is in progress, nothing is queued and no request runs. */
	get isIdle(): boolean {
		return this.#state === "idle" && this.#actor?.isIdle !== false;
	}

	/**
	 * Runs a request: at once if the queue is idle, otherwise after the requests before it.
	 *
	 * Rejects with `session_killed` or `agent_closed` if that happens first, and with `session_busy` if called by code
	 * that the queue waits for.
	 */
	ask<T>(
		kind: RequestKind,
		carryOut: (actor: SessionActor, place: Place) => MaybePromise<T>,
	): MaybePromise<T> {
		if (this.#state === "retired") return this.#table.queueOf(this.storeKey, this.key).ask(kind, carryOut);
		if (kind !== "fork") this.#actor?.ensureUsable();
		if (this.#table.isDraining && begins.has(kind)) throw agentClosed();
		if (this.#state === "busy") {
			if (!this.isAskedInside()) return this.#inLine(carryOut);
			if (storable.has(kind)) return carryOut(this.actor, "inside");
			throw awaitsItself(this.key);
		}
		const moment = kind === "send" ? this.#table.moment(this) : undefined;
		this.#state = "busy";
		return moment === undefined ? this.#carryOut(carryOut) : moment.then(() => this.#carryOut(carryOut));
	}

	/**
	 * Whether the calling code is what the queue waits for: hooks that a request calls, or those of a run that begins.
	 */
	isAskedInside(): boolean {
		if (this.#state !== "busy") return false;
		if (isAwaitedBy(this)) return true;
		const actor = this.#actor;
		return actor !== undefined && actor.turn === undefined && isAwaitedBy(actor.processKey);
	}

	/**
	 * Calls user functions that a request waits for. If they themselves wait for the session's run, this is detected.
	 */
	waitsFor<T>(processKey: string, what: () => Promise<T>): Promise<T> {
		return withinCall(this, () => waitFor(processKey, what, () => awaitsItself(this.key)));
	}

	/** The session may have work of its own now. */
	wake(): void {
		if (this.#state !== "idle") return;
		this.#state = "busy";
		this.#next();
	}

	/** Resolves when nothing runs any longer. Requests must be refused from then on. */
	async quiet(): Promise<void> {
		while (this.#state === "busy") {
			// A kill refuses the waiting requests, and the running one continues.
			if ((await this.#turn()) !== undefined) continue;
			this.#next();
			return;
		}
	}

	/**
	 * Refuses the waiting requests. Closing an agent calls this for every session, so the error is created only if a
	 * request waits.
	 */
	refuse(why: () => Error): void {
		const line = this.#line;
		if (line === undefined) return;
		this.#line = undefined;
		const error = why();
		for (let each: InLine | undefined = line.first; each !== undefined; each = each.next) each.end(error);
	}

	/** Suspends the current work and releases the session. */
	async close(): Promise<void> {
		// Without an actor nothing has begun; requests in line create one, which is then closed.
		await this.#actor?.close();
	}

	/** Makes room for other sessions; returns false if there is work to do or state to keep. */
	retire(): boolean {
		if (this.#state !== "idle" || this.#actor?.retire() === false) return false;
		this.#state = "retired";
		this.#actor = undefined;
		return true;
	}

	/** Each request continues in its own async context, where it waited. */
	async #inLine<T>(carryOut: (actor: SessionActor, place: Place) => MaybePromise<T>): Promise<T> {
		const refusal = await this.#turn();
		if (refusal !== undefined) throw refusal;
		return this.#carryOut(carryOut);
	}

	/**
	 * Resolves when all earlier requests have finished: from then on the caller has the queue. Resolves with an error if
	 * the request was refused.
	 */
	#turn(): Promise<Error | undefined> {
		const wait = (): Promise<Error | undefined> =>
			new Promise((resolve) => {
				const last: InLine = { end: resolve, next: undefined };
				if (this.#line === undefined) this.#line = { first: last, last };
				else {
					this.#line.last.next = last;
					this.#line.last = last;
				}
			});
		return waitFor(this, wait, () => awaitsItself(this.key));
	}

	#carryOut<T>(carryOut: (actor: SessionActor, place: Place) => MaybePromise<T>): MaybePromise<T> {
		let carried: MaybePromise<T>;
		try {
			carried = carryOut(this.actor, "in-line");
		} catch (error) {
			this.#next();
			throw error;
		}
		if (carried instanceof Promise) return this.#followed(carried);
		this.#next();
		return carried;
	}

	async #followed<T>(carried: Promise<T>): Promise<T> {
		try {
			return await carried;
		} finally {
			this.#next();
		}
	}

	/** Runs the session's own work first, then the first waiting request. */
	#next(): void {
		const work = this.#actor?.ownWork();
		if (work !== undefined) {
			void work.then(() => this.#next());
			return;
		}
		const line = this.#line;
		if (line !== undefined) {
			const { end, next } = line.first;
			if (next === undefined) this.#line = undefined;
			else line.first = next;
			end();
			return;
		}
		this.#state = "idle";
		if (this.#actor?.isIdle !== false) this.#table.rested(this.storeKey);
	}
}

// The events of one execution in this process, for one consumer (keeps I7). When unread events reach the limit, the
// model's stream and the tools wait. Once the result is requested, nothing waits: adjacent deltas are joined, and at the
// limit no more events are buffered, because the consumer finds them in the journal. The last event is emitted when the
// session shows its effect.
import { HoldfastError, type StopReason } from "@holdfast/upp";
import { EventQueue, waitFor } from "../engine/index.ts";
import type { BoundaryEvent, ErrorData, RunEvent, Watcher } from "../facts/index.ts";
import { afterEntry, flat, flatFrom } from "../facts/index.ts";
import { systemPorts, type Timers } from "../host/index.ts";
import { awaitsItself } from "../sessions/index.ts";
import type { ExecuteComplete, ExecuteEvent, PendingSessionCall } from "./execute-event.ts";
import { ExecuteProjection } from "./execute-projection.ts";
import { RestOfEvents } from "./rest-of-events.ts";
import type { LoggedEvent } from "./session-log.ts";
import type { SessionMessage } from "./session-message.ts";

/** The outcome of an execution. */
export interface ExecuteResult<Output = unknown> {
	/** How the execution ended: `completed`, `awaiting_tool_execution`, `error` or `aborted`. */
	readonly status: ExecuteComplete["status"];
	/** Messages of this execution, including its input. */
	readonly messages: readonly SessionMessage[];
	/** With status `awaiting_tool_execution`: the calls that wait for a result or an approval. */
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/** Calls of background tasks that wait when the result is returned. The session does not wait for them. */
	readonly backgroundToolCalls?: readonly PendingSessionCall[];
	/** US dollars of this execution's answers with a known price. */
	readonly cost: number;
	/** With status `error`: the code and message of the error. */
	readonly error?: { readonly code: string; readonly message: string };
	/** The structured answer, for a session with the option `output`, as JSON; present if the execution completed. */
	readonly output?: Output;
	/**
	 * Why the model stopped its last answer, if the execution completed and the reason is not `stop`. `length` means that
	 * the answer was cut off.
	 */
	readonly stopReason?: StopReason;
}

/** Events for one consumer, and the result, which settles even if the events are not read. */
export interface ExecuteStream<Output = unknown, Event = ExecuteEvent> extends AsyncIterable<Event> {
	/** Rejects if the execution was refused: `session_busy`, `pending_tool_calls` and so on. */
	result(): Promise<ExecuteResult<Output>>;
}

/** The number of events that may be unread. */
const defaultBufferLimit = 1_000;
/**
 * How long a tool waits for an active consumer: first this number of turns of the promise queue without a timer, then
 * this number of milliseconds without a request for the next event. A consumer that requests nothing for longer counts as
 * paused.
 */
const patience = { turns: 100, milliseconds: 1_000 };

/** The source and the receiver of an execution's events. */
export interface ExecuteEventsOptions {
	/** Identifies the session within this process. */
	readonly processKey?: string;
	readonly limit?: number | undefined;
	/** Default: the system's. */
	readonly timers?: Timers | undefined;
	/**
	 * Reads from the journal the events after an id, up to the end of the execution. Default: all events are buffered
	 * here.
	 */
	readonly readOn?:
		| ((after: string, signal: AbortSignal) => AsyncIterable<readonly LoggedEvent[]>)
		| undefined;
	/** Called with the first event, before it is delivered. */
	begun?(): void;
}

export class ExecuteEvents implements ExecuteStream, Watcher {
	readonly #projection: ExecuteProjection;
	readonly #sessionId: string;
	readonly #limit: number;
	readonly #options: ExecuteEventsOptions;
	readonly #queue: EventQueue<ExecuteEvent>;
	readonly #result: Promise<ExecuteResult>;
	#settle!: (result: ExecuteResult | Promise<never>) => void;
	readonly #messages: SessionMessage[] = [];
	/** Whether there is a reader that the producer waits for. */
	#reader: "none" | "reads" | "left" = "none";
	/** The number of unread events and of pending requests. */
	#unread = 0;
	#asked = 0;
	#room: PromiseWithResolvers<void> | undefined;
	/** Set while a tool waits for the reader, with the function that cancels its timeout. */
	#taking: PromiseWithResolvers<void> | undefined;
	#callOff: () => void = () => {};
	/** Whether the reader has been inactive for so long that the producer no longer waits for it. */
	#pauses = false;
	/** The events to read from the journal; set once buffering has stopped. */
	#rest: RestOfEvents | undefined;
	/** The last event, held until the session shows its effect. */
	#last: ExecuteEvent | undefined;
	#outcome: ExecuteResult | undefined;
	#over = false;
	#seq = 0;
	#isRead = false;

	constructor(sessionId: string, options: ExecuteEventsOptions = {}) {
		const { limit = defaultBufferLimit } = options;
		this.#sessionId = sessionId;
		this.#projection = new ExecuteProjection(sessionId);
		this.#limit = limit;
		this.#options = options;
		this.#queue = new EventQueue({ limit, join: (last, next) => this.#join(last, next) });
		this.#result = new Promise((resolve) => {
			this.#settle = resolve;
		});
		this.#result.catch(() => {});
	}

	notify(event: RunEvent): void {
		this.#seq = Math.max(this.#seq, event.seq);
		if (this.#isFullBefore(event)) this.#leaveRest(event.seq);
		for (const each of this.#projection.project(event)) {
			// The execution was interrupted as it began to wait.
			if (each.type === "session_start") this.#pushLast();
			if (each.type === "session_start") this.#options.begun?.();
			if (each.type === "message_end") this.#messages.push(each.message);
			if (each.type === "execute_complete") this.#complete(each);
			else if (this.#rest !== undefined) continue;
			else if (each.type === "session_end" || each.type === "awaiting_tool_execution") this.#last = each;
			else this.#push(each);
		}
		if (event.type === "run_suspended" && event.reason !== "waiting") this.#suspended(event.error);
	}

	full(): Promise<void> | undefined {
		if (this.#reader !== "reads" || this.#over || this.#unread < this.#limit) return undefined;
		this.#room ??= Promise.withResolvers<void>();
		return this.#room.promise;
	}

	passed(_event: BoundaryEvent): Promise<void> | undefined {
		return this.full();
	}

	heard(): Promise<void> | undefined {
		if (this.#reader !== "reads" || this.#over || this.#pauses) return this.full();
		return this.keptUp()
			.then(() => this.#taken())
			.then(() => this.full());
	}

	/** Settles when the reader has received everything emitted, or is paused. */
	async keptUp(): Promise<void> {
		for (let turns = 0, unread = this.#unread; this.#reader === "reads" && turns < patience.turns; turns++) {
			if (this.#unread === 0 && this.#asked > 0) return;
			await undefined;
			if (this.#unread < unread) [unread, turns] = [this.#unread, 0];
		}
	}

	/** Settles when the reader has requested the event after everything emitted, is paused, or no longer counts. */
	#taken(): Promise<void> {
		if (this.#hasAll || this.#reader !== "reads" || this.#over || this.#pauses) return Promise.resolve();
		this.#taking ??= Promise.withResolvers<void>();
		this.#beginPatience();
		return this.#taking.promise;
	}

	/** Whether the reader has received everything emitted and requests more. */
	get #hasAll(): boolean {
		return this.#unread === 0 && this.#asked > 0;
	}

	#beginPatience(): void {
		this.#callOff();
		this.#callOff = (this.#options.timers ?? systemPorts.timers).after(patience.milliseconds, () => {
			this.#pauses = true;
			this.#endTaking();
		});
	}

	#endTaking(): void {
		this.#callOff();
		this.#callOff = () => {};
		this.#taking?.resolve();
		this.#taking = undefined;
	}

	/** The reader requests an event. */
	#isAsked(): void {
		this.#pauses = false;
		if (this.#taking === undefined) return;
		if (this.#hasAll) this.#endTaking();
		else this.#beginPatience();
	}

	/** Seq of the last entry that has produced an event here. */
	get seq(): number {
		return this.#seq;
	}

	/** The answers were delivered to background tasks. */
	handedOver(): void {
		this.#complete({ status: "completed" });
	}

	/** The execution has ended, and the session shows it. `background`: waiting calls of its background tasks. */
	close(error: ErrorData | undefined, background: readonly PendingSessionCall[] = []): void {
		const waiting = background.length === 0 ? {} : { backgroundToolCalls: background };
		if (this.#outcome === undefined) this.#suspended(error);
		else this.#settle({ ...this.#outcome, ...waiting });
		this.#end({});
	}

	/** The execution was refused, or cannot continue here. */
	fail(error: unknown): void {
		if (this.#over) return;
		this.#settle(Promise.reject(error));
		this.#end({ error });
	}

	result(): Promise<ExecuteResult> {
		this.#release();
		return this.#over ? this.#result : this.#wait(() => this.#result);
	}

	/** @throws HoldfastError `events_already_consumed` if called a second time. */
	[Symbol.asyncIterator](): AsyncIterator<ExecuteEvent, void> {
		if (this.#isRead) {
			throw new HoldfastError(
				"events_already_consumed",
				"The events of an execution have one consumer. Read them once, and use result() for the outcome.",
			);
		}
		this.#isRead = true;
		if (this.#reader === "none") this.#reader = "reads";
		return {
			next: async () => {
				this.#asked++;
				this.#isAsked();
				const next = await this.#next().finally(() => this.#asked--);
				if (next.done) return this.#nextOfRest();
				this.#unread--;
				if (this.#unread < this.#limit) this.#makeRoom();
				return next;
			},
			return: async () => {
				this.#release();
				this.#rest?.leave();
				await this.#queue.return();
				return { done: true, value: undefined };
			},
		};
	}

	#next(): Promise<IteratorResult<ExecuteEvent>> {
		return this.#queue.isWaiting ? this.#wait(() => this.#queue.next()) : this.#queue.next();
	}

	/** Refuses a tool that waits for the execution which waits for that tool. */
	#wait<T>(what: () => Promise<T>): Promise<T> {
		return waitFor(this.#options.processKey, what, () => awaitsItself(this.#sessionId));
	}

	#pushLast(): void {
		if (this.#last !== undefined) this.#push(this.#last);
		this.#last = undefined;
	}

	#push(event: ExecuteEvent): void {
		this.#unread++;
		this.#queue.push(event);
	}

	async #nextOfRest(): Promise<IteratorResult<ExecuteEvent, void>> {
		const rest = this.#rest;
		if (rest === undefined) return { done: true, value: undefined };
		return this.#over ? rest.next() : this.#wait(() => rest.next());
	}

	/** Whether the buffer is full and, from this event on, the rest can be read from the journal. */
	#isFullBefore({ seq, sub, type }: RunEvent): boolean {
		if (this.#rest !== undefined || this.#reader === "reads" || this.#unread < this.#limit) return false;
		if (this.#options.readOn === undefined || seq === 0 || sub !== 0 || type === "run_suspended")
			return false;
		return !this.#projection.isAnswering;
	}

	/** Stops buffering: the reader continues in the journal from the start of an entry. */
	#leaveRest(seq: number): void {
		const { readOn } = this.#options;
		if (readOn === undefined) return;
		this.#rest = new RestOfEvents((signal) => readOn(afterEntry(seq - 1), signal));
		this.#queue.end();
	}

	/** Joins deltas if the producer must not wait. */
	#join(last: ExecuteEvent, next: ExecuteEvent): ExecuteEvent | undefined {
		if (this.#reader === "reads") return undefined;
		const joined = joinEvents(last, next);
		if (joined !== undefined) this.#unread--;
		return joined;
	}

	#end(end: { readonly error?: unknown }): void {
		if (!this.#over) this.#pushLast();
		this.#over = true;
		this.#rest?.isOver(end);
		this.#queue.end(end);
		this.#makeRoom();
		this.#endTaking();
	}

	#release(): void {
		this.#reader = "left";
		this.#makeRoom();
		this.#endTaking();
	}

	#makeRoom(): void {
		this.#room?.resolve();
		this.#room = undefined;
	}

	#suspended(error: ErrorData | undefined): void {
		const message = error?.message ?? "The execution was left to be resumed.";
		this.fail(new HoldfastError(error?.code ?? "run_suspended", message, { retryable: true }));
	}

	#complete({
		status,
		pendingToolCalls,
		error,
		output,
		stopReason,
	}: Omit<ExecuteComplete, "type" | "backgroundToolCalls">): void {
		const messages = this.#messages;
		this.#outcome = {
			status,
			messages,
			cost: messages.reduce((sum, message) => sum + costOf(message), 0),
			...(pendingToolCalls === undefined ? {} : { pendingToolCalls }),
			...(error === undefined ? {} : { error }),
			...(output === undefined ? {} : { output }),
			...(stopReason === undefined ? {} : { stopReason }),
		};
	}
}

function costOf(message: SessionMessage): number {
	if (message.role === "assistant") return message.usage.cost ?? 0;
	return "partial" in message ? (message.partial?.usage.cost ?? 0) : 0;
}

/** Joins two deltas of the same item into one. */
function joinEvents(last: ExecuteEvent, next: ExecuteEvent): ExecuteEvent | undefined {
	if (!("delta" in last) || !("delta" in next) || last.type !== next.type) return undefined;
	if ("index" in last && "index" in next && last.index !== next.index) return undefined;
	if ("toolCallId" in last && "toolCallId" in next && last.toolCallId !== next.toolCallId) return undefined;
	if (last.delta.length >= flatFrom) return undefined;
	const delta = last.delta + next.delta;
	return { ...next, delta: delta.length < flatFrom ? delta : flat(delta) };
}

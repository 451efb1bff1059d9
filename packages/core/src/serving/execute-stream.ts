// The events of one execution in this process, for one consumer (keeps I7): when they wait unread up to the limit, the
// model's stream waits too. Once the result is asked for nothing waits any more, and adjacent deltas become one.
import { HoldfastError } from "@holdfast/upp";
import { type BoundaryEvent, EventQueue, type RunEvent, type Watcher } from "../engine/index.ts";
import type { ExecuteComplete, ExecuteEvent, PendingSessionCall } from "./execute-event.ts";
import { ExecuteProjection } from "./execute-projection.ts";
import type { SessionMessage } from "./session-message.ts";

/** How an execution went. @see document 3, "New API Design" */
export interface ExecuteResult {
	readonly status: ExecuteComplete["status"];
	/** Messages of this execution, its input included. */
	readonly messages: readonly SessionMessage[];
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/** US dollars of this execution's answers, as far as prices are known. */
	readonly cost: number;
	readonly error?: { readonly code: string; readonly message: string };
}

/** Events for one consumer, and the result, which settles whether or not anybody reads them. */
export interface ExecuteStream extends AsyncIterable<ExecuteEvent> {
	/** Rejects where the execution was refused: `session_busy`, `pending_tool_calls` and so on. */
	result(): Promise<ExecuteResult>;
}

/** How many events may wait unread. */
const defaultBufferLimit = 1_000;

export class ExecuteEvents implements ExecuteStream, Watcher {
	readonly #projection: ExecuteProjection;
	readonly #limit: number;
	readonly #queue: EventQueue<ExecuteEvent>;
	readonly #result: Promise<ExecuteResult>;
	#settle!: (result: ExecuteResult | Promise<never>) => void;
	readonly #messages: SessionMessage[] = [];
	/** Whether somebody reads, and the producer waits for them. */
	#reader: "none" | "reads" | "left" = "none";
	#waiting = 0;
	#room: (() => void) | undefined;
	#outcome: ExecuteResult | undefined;
	#over = false;
	#isRead = false;

	constructor(sessionId: string, limit: number = defaultBufferLimit) {
		this.#projection = new ExecuteProjection(sessionId);
		this.#limit = limit;
		this.#queue = new EventQueue({ limit, join: (last, next) => this.#join(last, next) });
		this.#result = new Promise((resolve) => {
			this.#settle = resolve;
		});
		this.#result.catch(() => {});
	}

	tell(event: RunEvent): void {
		for (const each of this.#projection.project(event)) {
			if (each.type === "message_end") this.#messages.push(each.message);
			if (each.type === "execute_complete") this.#complete(each);
			else this.#push(each);
		}
		if (event.type !== "run_suspended" || event.reason === "waiting") return;
		const { error } = event;
		this.fail(
			new HoldfastError(
				error?.code ?? "run_suspended",
				error?.message ?? "The execution was left to be resumed.",
				{
					retryable: true,
				},
			),
		);
	}

	full(): Promise<void> | undefined {
		if (this.#reader !== "reads" || this.#waiting < this.#limit) return undefined;
		return new Promise((resolve) => {
			this.#room = resolve;
		});
	}

	passed(_event: BoundaryEvent): Promise<void> | undefined {
		return this.full();
	}

	/** The execution is over, and the session shows it. */
	close(): void {
		this.#over = true;
		if (this.#outcome !== undefined) this.#settle(this.#outcome);
		this.#queue.end();
	}

	/** The execution was refused, or cannot go on here. */
	fail(error: unknown): void {
		if (this.#over) return;
		this.#over = true;
		this.#settle(Promise.reject(error));
		this.#queue.end({ error });
	}

	result(): Promise<ExecuteResult> {
		this.#release();
		return this.#result;
	}

	/** @throws HoldfastError `events_already_consumed` when called a second time. */
	[Symbol.asyncIterator](): AsyncIterator<ExecuteEvent, void> {
		if (this.#isRead) {
			throw new HoldfastError(
				"events_already_consumed",
				"The events of an execution have one consumer. Read them once, and take result() for how it went.",
			);
		}
		this.#isRead = true;
		if (this.#reader === "none") this.#reader = "reads";
		return {
			next: async () => {
				const next = await this.#queue.next();
				if (next.done) return { done: true, value: undefined };
				this.#waiting = Math.max(0, this.#waiting - 1);
				if (this.#waiting < this.#limit) this.#makeRoom();
				return next;
			},
			return: async () => {
				this.#release();
				await this.#queue.return();
				return { done: true, value: undefined };
			},
		};
	}

	#push(event: ExecuteEvent): void {
		this.#waiting++;
		this.#queue.push(event);
	}

	/** Deltas are joined where nobody may make the producer wait. */
	#join(last: ExecuteEvent, next: ExecuteEvent): ExecuteEvent | undefined {
		if (this.#reader === "reads") return undefined;
		const joined = joinEvents(last, next);
		if (joined !== undefined) this.#waiting--;
		return joined;
	}

	#release(): void {
		this.#reader = "left";
		this.#makeRoom();
	}

	#makeRoom(): void {
		this.#room?.();
		this.#room = undefined;
	}

	#complete({ status, pendingToolCalls, error }: ExecuteComplete): void {
		const messages = this.#messages;
		this.#outcome = {
			status,
			messages,
			cost: messages.reduce((sum, message) => sum + costOf(message), 0),
			...(pendingToolCalls === undefined ? {} : { pendingToolCalls }),
			...(error === undefined ? {} : { error }),
		};
	}
}

function costOf(message: SessionMessage): number {
	if (message.role === "assistant") return message.usage.cost ?? 0;
	return "partial" in message ? (message.partial?.usage.cost ?? 0) : 0;
}

/** One delta for two of the same thing. */
function joinEvents(last: ExecuteEvent, next: ExecuteEvent): ExecuteEvent | undefined {
	if (!("delta" in last) || !("delta" in next) || last.type !== next.type) return undefined;
	if ("index" in last && "index" in next && last.index !== next.index) return undefined;
	if ("toolCallId" in last && "toolCallId" in next && last.toolCallId !== next.toolCallId) return undefined;
	return last.delta.length >= 16_384 ? undefined : { ...next, delta: last.delta + next.delta };
}

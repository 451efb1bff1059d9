/**
 * Messages of the user, sent in the order in which they were typed. Those that wait for the current call or answer can be
 * taken back; until they are sent, they are values of the session, so that they survive this process.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { UserMessage } from "@holdfast/upp";
import { type Host, isHoldfastError } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import type { SessionValues } from "holdfast/plugins";
import type { Transcript } from "./chat-transcript.ts";

/** A message that has not been sent. */
export interface UnsentMessage {
	readonly text: string;
	/** The output of commands that it carries. */
	readonly asides: readonly string[];
	readonly attached: Promise<string | UserMessage>;
	/** Its name among the values of the session; undefined if it does not wait. */
	readonly id?: string;
}

/** A message as it is stored, with the process that will send it. */
type Stored = Pick<UnsentMessage, "text" | "asides"> & { readonly pid: number; readonly machine: string };

/** The options that make a message count once, even if two processes send it. */
type SendOnce = { readonly dedupeKey?: string };

/** The parts of the queue. */
export interface QueueParts {
	readonly transcript: Transcript;
	readonly host: Pick<Host, "values">;
	/** The key of the session. */
	readonly key: string;
	/** Returns the message with what it mentions. */
	attach(text: string, asides: readonly string[]): Promise<string | UserMessage>;
}

export class QueuedMessages {
	readonly #parts: QueueParts;
	readonly #values: SessionValues;
	#waiting: readonly UnsentMessage[] = [];
	/** Ids of all messages that this process has queued or restored. */
	readonly #own = new Set<string>();
	/** Settles when the messages so far have been sent. */
	#sending: Promise<unknown> = Promise.resolve();
	/** Settles when the values are up to date. */
	#storing: Promise<unknown> = Promise.resolve();

	constructor(parts: QueueParts) {
		this.#parts = parts;
		this.#values = parts.host.values.values(storeKeyOf(undefined, parts.key), "chat-queue");
	}

	/** Returns a message that is sent at once. */
	message(text: string, asides: readonly string[]): UnsentMessage {
		const attached = this.#parts.attach(text, asides);
		attached.catch(() => {}); // It is reported when the message is sent.
		return { text, asides, attached };
	}

	/** Queues a message. Resolves when it is stored. */
	async add(message: UnsentMessage): Promise<void> {
		// The names are in the order in which the messages were typed.
		const count = String(this.#own.size).padStart(6, "0");
		const id = `${String(Date.now()).padStart(15, "0")} ${count} ${randomUUID()}`;
		this.#queue({ ...message, id });
		const { text, asides } = message;
		await this.#store({ text, asides }, id);
	}

	/** Queues the messages that processes have left which no longer exist. */
	async restore(): Promise<void> {
		const all = await this.#values.list();
		for (const { name, value } of all) {
			const { text, asides, pid, machine } = (value ?? {}) as Stored;
			if (typeof text !== "string" || !Array.isArray(asides)) continue;
			if (this.#own.has(name) || machine !== hostname() || isAlive(pid)) continue;
			this.#parts.transcript.set({ queued: [...this.#parts.transcript.live.queued, text] });
			this.#queue({ ...this.message(text, asides), id: name });
			await this.#store({ text, asides }, name);
		}
	}

	/** Whether messages wait. */
	get isWaiting(): boolean {
		return this.#waiting.length > 0;
	}

	/** Returns the messages, which are sent now. They stay on the screen until a run receives them. */
	takeAll(): readonly UnsentMessage[] {
		const messages = this.#waiting;
		this.#waiting = [];
		return messages;
	}

	/** Returns the first message, which is sent now, and removes it from the screen; undefined if there is none. */
	takeFirst(): UnsentMessage | undefined {
		return this.#take(0);
	}

	/** Returns the last message to the user, and removes it; undefined if there is none. */
	recall(): UnsentMessage | undefined {
		const message = this.#take(this.#waiting.length - 1);
		if (message?.id !== undefined) void this.#forget(message.id).catch(() => {});
		return message;
	}

	/**
	 * Sends a message after those before it. Returns undefined if another process has sent it. Such a message is not
	 * shown as waiting, nor is one that is refused.
	 */
	send<Sent>(
		{ attached, id, text }: UnsentMessage,
		request: (said: string | UserMessage, options: SendOnce) => Promise<Sent>,
	): Promise<Sent | undefined> {
		const sent = this.#sending.then(async () => {
			try {
				return await request(await attached, id === undefined ? {} : { dedupeKey: id });
			} catch (error) {
				this.hide(text);
				if (id === undefined || !isHoldfastError(error) || error.code !== "duplicate_input") throw error;
				return undefined;
			}
		});
		this.#sending = sent.then(
			() => (id === undefined ? undefined : this.#forget(id).catch(() => {})),
			() => {},
		);
		return sent;
	}

	/** Removes a message from the screen that was sent; returns whether it was shown. */
	hide(text: string): boolean {
		const { queued } = this.#parts.transcript.live;
		const shownAt = queued.indexOf(text);
		if (shownAt >= 0) this.#parts.transcript.set({ queued: queued.toSpliced(shownAt, 1) });
		return shownAt >= 0;
	}

	/** Settles when no message is being sent. */
	async settled(): Promise<void> {
		await this.#sending;
	}

	#queue(message: UnsentMessage & { readonly id: string }): void {
		this.#own.add(message.id);
		this.#waiting = [...this.#waiting, message];
	}

	#take(at: number): UnsentMessage | undefined {
		const message = this.#waiting[at];
		if (message === undefined) return undefined;
		const { queued } = this.#parts.transcript.live;
		// Those that were sent come first.
		const shownAt = queued.length - this.#waiting.length + at;
		this.#parts.transcript.set({ queued: queued.toSpliced(shownAt, 1) });
		this.#waiting = this.#waiting.toSpliced(at, 1);
		return message;
	}

	#store(message: Pick<Stored, "text" | "asides">, id: string): Promise<void> {
		const stored: Stored = { ...message, pid: process.pid, machine: hostname() };
		return this.#inOrder(() => this.#values.set(id, stored));
	}

	#forget(id: string): Promise<unknown> {
		return this.#inOrder(() => this.#values.delete(id));
	}

	#inOrder<Result>(change: () => Result | Promise<Result>): Promise<Result> {
		const changed = this.#storing.then(change);
		this.#storing = changed.catch(() => {});
		return changed;
	}
}

/** Whether a process of this machine exists. */
function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as { readonly code?: unknown }).code === "EPERM";
	}
}

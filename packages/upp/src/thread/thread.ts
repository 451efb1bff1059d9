// A conversation that grows: messages under an id, for callers that store history themselves.

import { checkOptions, HoldfastError, optionNames } from "../errors/index.ts";
import { uuid } from "../ids/index.ts";
import {
	AssistantMessage,
	type Message,
	type MessageJSON,
	type MessageType,
	messageFromJSON,
	messageToJSON,
	UserMessage,
} from "../messages/index.ts";
import type { Turn } from "../turn/index.ts";

const threadNames = optionNames<ThreadOptions>({ id: "text", createdAt: true, updatedAt: true });

/** A thread as JSON data. */
export interface ThreadJSON {
	/** Id of the thread. */
	id: string;
	/** The messages, oldest first. */
	messages: MessageJSON[];
	/** In ISO 8601. */
	createdAt: string;
	/** In ISO 8601. */
	updatedAt: string;
}

/** Options of a thread. */
export interface ThreadOptions {
	/** Default: a new random UUID. */
	id?: string;
	/** Default: now. */
	createdAt?: Date;
	/** Default: `createdAt`. */
	updatedAt?: Date;
}

/** A list of messages that can be appended to. */
export class Thread implements Iterable<Message> {
	/** A UUID, unless it was set in the options. */
	readonly id: string;
	readonly #messages: Message[];
	readonly #createdAt: Date;
	#updatedAt: Date;

	/** Creates a thread with a copy of this list. */
	constructor(messages: Iterable<Message> = [], options: ThreadOptions = {}) {
		checkOptions(options, threadNames, { of: "new Thread()" });
		this.id = options.id ?? uuid();
		this.#messages = [...messages];
		this.#createdAt = options.createdAt ?? new Date();
		this.#updatedAt = options.updatedAt ?? this.#createdAt;
	}

	/** The messages, oldest first. The list changes when messages are added. */
	get messages(): readonly Message[] {
		return this.#messages;
	}

	/** How many messages there are. */
	get length(): number {
		return this.#messages.length;
	}

	/** Adds all messages of a turn. */
	append(turn: Turn): this {
		return this.push(...turn.messages);
	}

	/** Adds messages at the end. */
	push(...messages: readonly Message[]): this {
		for (const message of messages) this.#messages.push(message);
		this.#updatedAt = new Date();
		return this;
	}

	/** Adds a user message. */
	user(text: string): this {
		return this.push(new UserMessage(text));
	}

	/** Adds an assistant message. */
	assistant(text: string): this {
		return this.push(new AssistantMessage(text));
	}

	/** Returns the messages of one type. */
	filter(type: MessageType): Message[] {
		return this.#messages.filter((message) => message.type === type);
	}

	/** Returns the last messages, at most `count`. */
	tail(count: number): Message[] {
		return count <= 0 ? [] : this.#messages.slice(-count);
	}

	/** Returns a part of the list, like `Array.slice`. */
	slice(start?: number, end?: number): Message[] {
		return this.#messages.slice(start, end);
	}

	/** Removes all messages. */
	clear(): this {
		this.#messages.length = 0;
		this.#updatedAt = new Date();
		return this;
	}

	/** Returns a copy of the list of messages. */
	toMessages(): Message[] {
		return [...this.#messages];
	}

	/** Converts the thread to JSON data, which `fromJSON` reads. */
	toJSON(): ThreadJSON {
		return {
			id: this.id,
			messages: this.#messages.map((message) => messageToJSON(message)),
			createdAt: this.#createdAt.toISOString(),
			updatedAt: this.#updatedAt.toISOString(),
		};
	}

	/**
	 * Reads a thread from JSON data.
	 * @throws HoldfastError `invalid_message` for data that is not a thread.
	 */
	static fromJSON(json: ThreadJSON): Thread {
		if (typeof json?.id !== "string" || !Array.isArray(json.messages)) {
			throw new HoldfastError("invalid_message", "Not a thread: it needs an `id` and a list of `messages`.");
		}
		return new Thread(json.messages.map(messageFromJSON), {
			id: json.id,
			createdAt: readTime(json.createdAt, "createdAt"),
			updatedAt: readTime(json.updatedAt, "updatedAt"),
		});
	}

	[Symbol.iterator](): Iterator<Message> {
		return this.#messages[Symbol.iterator]();
	}
}

function readTime(text: string, name: string): Date {
	const time = new Date(text);
	if (Number.isNaN(time.getTime())) {
		throw new HoldfastError("invalid_message", `Not a thread: "${name}" should be an ISO 8601 time.`);
	}
	return time;
}

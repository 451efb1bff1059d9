// The transport of `useChat` to a Holdfast server. Unlike the AI SDK's own transport, it resumes a dropped connection
// where it broke. A message that is sent again is accepted once, and `stop()` stops the run, not only the connection.
import {
	type Call,
	type ClientOptions,
	randomKey,
	readOptions,
	repeatedly,
	type Settings,
	sendForJson,
} from "../transport/index.ts";
import { chatPath, followChat, openChat, resumeCall } from "./chat-stream.ts";
import type { ChatChunk, ChatMessage, ReconnectOptions, SendOptions } from "./chat-types.ts";

/** Options of `new HoldfastChatTransport`: those of a client. */
export interface HoldfastChatTransportOptions extends Omit<ClientOptions, "url"> {
	/** Base URL of the server, without `/api/chat`. Default: the page's own origin. */
	readonly url?: string;
}

/**
 * Connects `useChat` of the AI SDK, version 7, to a Holdfast server. `Message` is the page's type of messages.
 *
 * `stop()` of `useChat` stops the run on the server, and `useChat` also calls it when its component unmounts. A `Chat`
 * that you create outside of the component and pass to `useChat({ chat })` stays alive, and so does its run.
 *
 * @throws ClientError `invalid_option`.
 * @example
 * const transport = new HoldfastChatTransport({ url: "https://agents.example" });
 * console.log(transport.resumeStreamIsReplay);
 */
export class HoldfastChatTransport<Message extends ChatMessage = ChatMessage> {
	/** A resumed stream sends its message from the beginning. */
	readonly resumeStreamIsReplay = true;
	readonly #settings: Settings;
	/** Chats that were loaded while an answer was in progress. */
	readonly #loadedOpen = new Set<string>();
	/** Stop requests that have not been answered yet. */
	readonly #stopping = new Map<string, Promise<unknown>>();

	/** Creates a transport. No request is made. */
	constructor(options: HoldfastChatTransportOptions = {}) {
		this.#settings = readOptions({ ...options, url: options.url ?? "" });
	}

	/** Sends the last message; the server accepts only that one. */
	async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<ChatChunk>> {
		const { chatId, messages, trigger, messageId, abortSignal, body } = options;
		const named = messages.filter(({ id }) => id === messageId);
		const sent = {
			...body,
			id: chatId,
			messages: named.length > 0 ? named : messages.slice(-1),
			trigger,
			...(messageId === undefined ? {} : { messageId }),
		};
		const headers = { ...plainHeaders(options.headers), "idempotency-key": randomKey(this.#settings.timers) };
		const call: Call = { method: "POST", path: "/api/chat", body: JSON.stringify(sent), headers };
		// A run that is being stopped would refuse the message.
		await this.#stopping.get(chatId);
		let opening: Promise<unknown> | undefined;
		const chunks = followChat(this.#settings, chatId, call, abortSignal, undefined, (connection) => {
			opening = connection;
		});
		return this.#stream(chatId, abortSignal, chunks, () => opening);
	}

	/** Returns the answer in progress from its beginning, or null. */
	async reconnectToStream(options: ReconnectOptions): Promise<ReadableStream<ChatChunk> | null> {
		const { chatId, abortSignal } = options;
		// An answer that ended since the chat was loaded is streamed too, because the loaded part is incomplete.
		const again = this.#loadedOpen.delete(chatId) ? "?again=1" : "";
		const resume = resumeCall(chatId, undefined, plainHeaders(options.headers));
		const call = { ...resume, path: resume.path + again };
		const settings = this.#settings;
		const connection = await repeatedly(settings, () => openChat(settings, call, abortSignal), abortSignal);
		if (connection === undefined) return null;
		return this.#stream(chatId, abortSignal, followChat(settings, chatId, call, abortSignal, connection));
	}

	/** Returns the messages of a chat, for a page that is opened again. */
	async load(chatId: string): Promise<Message[]> {
		const call: Call = { method: "GET", path: chatPath(chatId) };
		const loaded = await repeatedly(this.#settings, () => sendForJson(this.#settings, call));
		const { messages, isOpen } = loaded as { messages: Message[]; isOpen: boolean };
		if (isOpen) this.#loadedOpen.add(chatId);
		return messages;
	}

	/** Stops the answer in progress, if any. Waiting calls are cancelled. */
	async stop(chatId: string): Promise<{ readonly stopped: boolean }> {
		const call: Call = { method: "POST", path: `${chatPath(chatId)}/stop`, body: "{}" };
		const stopped = await repeatedly(this.#settings, () => sendForJson(this.#settings, call));
		return stopped as { stopped: boolean };
	}

	#stream(
		chatId: string,
		signal: AbortSignal | undefined,
		chunks: AsyncGenerator<unknown, void, undefined>,
		opening: () => Promise<unknown> | undefined = () => undefined,
	): ReadableStream<ChatChunk> {
		const stop = (): void => {
			const stopping = Promise.resolve(opening())
				.catch(() => {}) // the server may have accepted it nevertheless
				.then(() => this.stop(chatId))
				// The page has moved on; a run that could not be stopped continues and is available when the page
				// returns.
				.catch(() => {})
				.finally(() => this.#stopping.delete(chatId));
			this.#stopping.set(chatId, stopping);
		};
		signal?.addEventListener("abort", stop, { once: true });
		const leave = (): void => signal?.removeEventListener("abort", stop);
		return new ReadableStream<ChatChunk>(
			{
				async pull(controller) {
					try {
						const { done, value } = await chunks.next();
						if (!done) {
							controller.enqueue(value as ChatChunk);
							return;
						}
						leave();
						controller.close();
					} catch (error) {
						leave();
						controller.error(error);
					}
				},
				async cancel() {
					leave();
					// Not awaited: a read that hangs would block its reader too.
					chunks.return().catch(() => {});
				},
			},
			{ highWaterMark: 0 },
		);
	}
}

function plainHeaders(headers: Headers | Record<string, string> | undefined): Record<string, string> {
	return Object.fromEntries(headers instanceof Headers ? headers : Object.entries(headers ?? {}));
}

// The chunks of a chat's answer across reconnects, each once, in order: a connection resumes after the last chunk that
// was passed on.
import { ClientError } from "../errors/index.ts";
import { type Call, createBackoff, lost, readRecords, type Settings, send } from "../transport/index.ts";

/** Returns the path of a chat. */
export function chatPath(chatId: string): string {
	return `/api/chat/${encodeURIComponent(chatId)}`;
}

/** Returns the call for the stream of the answer in progress, after a chunk. */
export function resumeCall(chatId: string, lastId: string | undefined, headers: Call["headers"]): Call {
	return {
		method: "GET",
		path: `${chatPath(chatId)}/stream`,
		headers: { ...headers, ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
	};
}

/** A connection to chunks; undefined if no answer is in progress. */
export type ChatConnection = Awaited<ReturnType<typeof openChat>>;

/** Opens a connection once, without retries. */
export async function openChat(
	settings: Settings,
	call: Call,
	signal: AbortSignal | undefined,
): Promise<{ readonly body: ReadableStream<Uint8Array>; close(): void } | undefined> {
	const { response, close } = await send(settings, call, signal);
	if (response.status !== 204 && response.body !== null) return { body: response.body, close };
	close();
	if (response.status === 204) return undefined;
	throw new ClientError("stream_unsupported", "This `fetch` returns no readable stream.");
}

/**
 * Yields the chunks of an answer. `call` is repeated until its first chunk arrives; `first` is its connection, if it is
 * open. `opening` is called for every connection that sends a message.
 *
 * @throws ClientError with the server's code; `connection_failed` and `connection_lost` after too many failures in a row.
 */
export async function* followChat(
	settings: Settings,
	chatId: string,
	call: Call,
	signal: AbortSignal | undefined,
	first?: ChatConnection,
	opening: (connection: Promise<ChatConnection>) => void = () => {},
): AsyncGenerator<unknown, void, undefined> {
	const backoff = createBackoff(settings, signal);
	let connection = first;
	let lastId: string | undefined;
	for (;;) {
		let failure: unknown;
		try {
			const next = lastId === undefined ? call : resumeCall(chatId, lastId, authOf(call));
			if (connection === undefined && next.method === "POST") {
				// Not aborted with the signal: the server might have accepted the message, and then has to be asked to
				// stop.
				const opened = openChat(settings, next, undefined);
				opening(opened);
				connection = await orAborted(opened, signal);
			} else connection ??= await openChat(settings, next, signal);
			if (connection === undefined) return;
			try {
				for await (const { id, data } of readRecords(connection.body, settings)) {
					if (data === "[DONE]") return;
					lastId = id ?? lastId;
					backoff.reset();
					yield JSON.parse(data);
				}
			} finally {
				connection.close();
			}
			failure = lost("ended too early");
		} catch (error) {
			signal?.throwIfAborted();
			failure = error;
		}
		connection = undefined;
		await backoff.afterFailure(failure);
	}
}

/** Returns the headers of a call, without the one that names a new request. */
function authOf({ headers }: Call): Call["headers"] {
	const { "idempotency-key": _, ...others } = headers ?? {};
	return others;
}

/**
 * Resolves with the connection, or rejects at once with the signal's reason; the connection is then closed as soon as it
 * opens.
 */
function orAborted(
	opened: Promise<ChatConnection>,
	signal: AbortSignal | undefined,
): Promise<ChatConnection> {
	if (signal === undefined) return opened;
	return new Promise((resolve, reject) => {
		const abort = (): void => {
			reject(signal.reason);
			opened.then(
				(connection) => connection?.close(),
				() => {},
			);
		};
		if (signal.aborted) abort();
		signal.addEventListener("abort", abort, { once: true });
		opened.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
	});
}

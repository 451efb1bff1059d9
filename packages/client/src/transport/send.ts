// One HTTP request: its headers, its connection, and the errors for its failures.

import { ClientError } from "../errors/index.ts";
import { withinIdleTime } from "./idle-time.ts";
import type { Settings } from "./options.ts";

/** A request, below the client's `url`. */
export interface Call {
	readonly method: "GET" | "POST" | "DELETE";
	readonly path: string;
	/** JSON as text, so that it stays the same if it is sent again. */
	readonly body?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

/** A response whose body has not been read yet. */
export interface Exchange {
	readonly response: Response;
	/** Closes the connection. */
	close(): void;
}

/**
 * Sends a request once. When `signal` fires, the connection is closed.
 *
 * @throws ClientError with the server's code and status; `request_failed` if it sent none; `connection_failed`,
 * `connection_lost`; or the signal's reason.
 */
export async function send(settings: Settings, call: Call, signal?: AbortSignal): Promise<Exchange> {
	signal?.throwIfAborted();
	const connection = new AbortController();
	const close = (): void => {
		signal?.removeEventListener("abort", close);
		connection.abort(signal?.reason);
	};
	signal?.addEventListener("abort", close, { once: true });
	try {
		const request = { ...call, headers: await headersOf(settings, call), signal: connection.signal };
		connection.signal.throwIfAborted();
		const response = await withinIdleTime(settings, reach(settings, request));
		if (!response.ok) throw await withinIdleTime(settings, readFailure(response, settings));
		return { response, close };
	} catch (error) {
		close();
		signal?.throwIfAborted();
		throw error;
	}
}

/** Sends a request once and reads its JSON. */
export async function sendForJson(settings: Settings, call: Call, signal?: AbortSignal): Promise<unknown> {
	const { response, close } = await send(settings, call, signal);
	try {
		return await withinIdleTime(settings, response.json());
	} catch (error) {
		signal?.throwIfAborted();
		throw error;
	} finally {
		close();
	}
}

// Created here, so that an invalid header is an error of its own and not an unreachable server.
async function headersOf(settings: Settings, call: Call): Promise<Headers> {
	const own = await settings.headers();
	const type = call.body === undefined ? {} : { "content-type": "application/json" };
	return new Headers({ ...own, ...type, ...call.headers });
}

type Request = Omit<Call, "headers"> & RequestInit;

async function reach({ fetch, url, contact }: Settings, { path, ...init }: Request): Promise<Response> {
	try {
		const response = await fetch(url + path, init);
		contact.hasAnswered = true;
		return response;
	} catch (cause) {
		// Outside of a page, an address without an origin never works, however often it is tried.
		const { code } = ((cause as Error)?.cause ?? {}) as { code?: unknown };
		throw new ClientError(
			"connection_failed",
			`The server at ${url || "this page's origin"} cannot be reached. Check \`url\` and the network.`,
			{ cause, retryable: code !== "ERR_INVALID_URL" },
		);
	}
}

/** Codes of errors of the stored data, which a repeated request does not change. */
const unreadable: ReadonlySet<unknown> = new Set(["journal_corrupt", "journal_newer"]);

async function readFailure(response: Response, { timers }: Settings): Promise<ClientError> {
	const { status } = response;
	const body = await response.json().catch(() => undefined);
	const said = typeof body?.error === "string" ? body.error : `The server answered with status ${status}.`;
	if (status === 410) {
		const hint = "Load the session again with `client.session(id)` and watch from its `lastEventId`.";
		return new ClientError("events_expired", `${said} ${hint}`, { status });
	}
	const retryAfterMs = readRetryAfter(response.headers.get("retry-after"), timers.now());
	const retryable = (status >= 500 && !unreadable.has(body?.code)) || status === 429 || status === 408;
	const about = { status, ...(retryAfterMs === undefined ? {} : { data: { retryAfterMs } }) };
	return typeof body?.code === "string"
		? new ClientError(body.code, said, { ...about, retryable })
		: new ClientError("request_failed", `${said} Check that \`url\` leads to a Holdfast server.`, {
				...about,
				retryable,
			});
}

/** `Retry-After` is a number of seconds or a date. */
function readRetryAfter(value: string | null, now: number): number | undefined {
	if (value === null) return undefined;
	const seconds = Number(value);
	const milliseconds = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000;
	return milliseconds > 0 ? milliseconds : undefined;
}

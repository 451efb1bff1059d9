// The page's requests to its server. Each request uses the key current at its start; late responses for an older key are
// ignored.
//
// open: no request was refused. asked: the server requires a key, and none was given. refused: the given key is invalid.
import { createClient } from "@holdfast/client";
import { signal } from "@preact/signals";
import { type EventSourceMessage, EventSourceParserStream } from "eventsource-parser/stream";

/** Whether the server accepts this page. */
export const access = signal<"open" | "asked" | "refused" | "closed">("open");
/** Counts the given keys; a view with data of an older key starts over. */
export const keyNumber = signal(0);
/** Since when requests have not reached the server, in milliseconds since the epoch; undefined while they do. */
export const awaySince = signal<number | undefined>(undefined);

function isAway(): void {
	awaySince.value ??= Date.now();
}

const waits = new Set<() => void>();

/** Ends all pauses: waiting retries run at once. */
export function retryNow(): void {
	for (const end of waits) end();
}

const storedUnder = "holdfast.inspector.key";
let key: string | undefined = read();
/** Aborts the requests that use the key. */
let ending = new AbortController();

/** A refusal of the server, by its code. */
export class Refused extends Error {
	readonly code: string;
	readonly status: number;
	constructor(status: number, code: string, message: string) {
		super(message);
		this.code = code;
		this.status = status;
	}
}

/** Whether the request used an older key, or belongs to a view that has been closed. */
export function isOver(error: unknown): boolean {
	return error instanceof DOMException && error.name === "AbortError";
}

/** Sets the key for further requests. Requests with the previous one are aborted. */
export function useKey(given: string): void {
	key = given;
	try {
		sessionStorage.setItem(storedUnder, given);
	} catch {
		// Without storage, the page asks for the key again after a reload.
	}
	access.value = "open";
	keyNumber.value++;
	ending.abort();
	ending = new AbortController();
}

function read(): string | undefined {
	try {
		return sessionStorage.getItem(storedUnder) ?? undefined;
	} catch {
		return undefined;
	}
}

/** `fetch` with the key. Rejects with an AbortError after another key was given. */
async function send(url: string, init: RequestInit = {}): Promise<Response> {
	const { signal: end } = ending;
	const headers = new Headers(init.headers);
	if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
	const asked = key;
	let response: Response;
	try {
		const ends = init.signal ? AbortSignal.any([end, init.signal]) : end;
		response = await fetch(url, { ...init, headers, signal: ends });
	} catch (error) {
		if (!isOver(error) && !end.aborted) isAway();
		throw error;
	}
	if (end.aborted) throw new DOMException("The key has changed.", "AbortError");
	awaySince.value = undefined;
	if (response.status === 401) access.value = asked === undefined ? "asked" : "refused";
	return response;
}

/** Returns the JSON of a route. Rejects with `Refused`. */
export async function ask<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
	return answerOf<Answer>(await send(url, signal === undefined ? {} : { signal }));
}

/** Posts JSON. Rejects with `Refused`. */
export async function post<Answer>(url: string, body: unknown = {}, signal?: AbortSignal): Promise<Answer> {
	const headers = { "content-type": "application/json" };
	const until = signal === undefined ? {} : { signal };
	return answerOf<Answer>(await send(url, { method: "POST", headers, body: JSON.stringify(body), ...until }));
}

/** Deletes the resource at a path. */
export async function remove(url: string): Promise<void> {
	await answerOf(await send(url, { method: "DELETE" }));
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
	if (response.ok) return (await response.json()) as Answer;
	throw await refusalOf(response);
}

async function refusalOf(response: Response): Promise<Refused> {
	const { code = "unknown", error = `The server answered ${response.status}.` } = (await response
		.json()
		.catch(() => ({}))) as { code?: string; error?: string };
	if (code === "inspector_closed") access.value = "closed";
	return new Refused(response.status, code, error);
}

/** Sends a message to a session, or to a new one; returns its id. The session is then watched. */
export async function say(input: string, sessionId?: string): Promise<string> {
	const response = await send("/api/agent/execute", {
		method: "POST",
		headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
		body: JSON.stringify({ input, ...(sessionId === undefined ? {} : { sessionId }) }),
	});
	if (!response.ok) throw await refusalOf(response);
	await response.body?.cancel();
	return response.headers.get("x-session-id") ?? sessionId ?? "";
}

/** Returns the bytes of a file. Rejects with `Refused`. */
export async function bytesOf(url: string, signal?: AbortSignal): Promise<Blob> {
	const response = await send(url, signal === undefined ? {} : { signal });
	if (!response.ok) throw await refusalOf(response);
	return response.blob();
}

/**
 * Yields the records of an event stream until it ends or the signal fires. Rejects with `Refused`, and if the connection
 * is lost.
 */
export async function* records(url: string, signal: AbortSignal): AsyncGenerator<EventSourceMessage> {
	const response = await send(url, { signal, headers: { accept: "text/event-stream" } });
	if (!response.ok || response.body === null) throw await refusalOf(response);
	const stream = response.body
		.pipeThrough(new TextDecoderStream() as never)
		.pipeThrough(new EventSourceParserStream());
	const reader = (stream as ReadableStream<EventSourceMessage>).getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			yield value;
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

/** The client of the public routes. */
export const client = createClient({
	url: "",
	fetch: send,
	maxReconnects: Number.POSITIVE_INFINITY,
	reconnectDelayMs: 200,
	maxReconnectDelayMs: 3_000,
	onReconnect: ({ error }) => {
		if (error.status === undefined) isAway();
	},
});

/** Resolves after a number of milliseconds, when the signal fires, or by `retryNow`. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const end = (): void => {
			clearTimeout(timer);
			waits.delete(end);
			signal.removeEventListener("abort", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		waits.add(end);
		signal.addEventListener("abort", end);
	});
}

/** Returns the path of a session under `/api/inspect`. */
export function inspectPath(sessionId: string, rest = ""): string {
	return `/api/inspect/session/${encodeURIComponent(sessionId)}${rest}`;
}

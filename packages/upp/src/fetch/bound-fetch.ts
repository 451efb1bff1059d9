// Requests to an untrusted server: credentials are sent only to the origins they are for, a silent server is abandoned,
// and an endless response is cut off (keeps I7).
import { checkOptions, HoldfastError, HoldfastTypeError, optionNames } from "../errors/index.ts";
import { startTimer } from "../time/index.ts";

const boundFetchNames = optionNames<BoundFetchOptions>({
	fetch: "function",
	headers: "object",
	origins: "list",
	silenceMs: "number",
	maxBytes: "number",
	eventStreams: ["answer", "each-event"],
	onTooLarge: "function",
});

/** The restrictions on requests. */
export interface BoundFetchOptions {
	/** Makes the requests. Default: the global `fetch`. */
	readonly fetch?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
	/** Sent with every request to `origins`. */
	readonly headers?: Readonly<Record<string, string>> | undefined;
	/** URLs whose origins receive `headers`. */
	readonly origins: readonly (string | URL)[];
	/**
	 * Milliseconds within which the server must start its response, and send each following piece of it. Infinity: no
	 * limit.
	 */
	readonly silenceMs: number;
	/** The maximum number of bytes of one response. */
	readonly maxBytes: number;
	/**
	 * What `maxBytes` applies to in an event stream: the whole response, or each event, for streams without an end.
	 * Default `answer`.
	 */
	readonly eventStreams?: "answer" | "each-event" | undefined;
	/** Called when a response is cut off, before its body fails. */
	readonly onTooLarge?: (() => void) | undefined;
}

/** The maximum number of redirects followed. */
const mostRedirects = 5;
/** Request headers that identify the caller: they are sent only to their own origin. */
const naming = ["authorization", "cookie", "proxy-authorization"];

/**
 * Creates a `fetch` with these restrictions. It follows redirects itself, so that a server cannot pass credentials on.
 *
 * Its requests reject, or their bodies fail, with `server_silent`, `answer_too_large`, `too_many_redirects`.
 *
 * @throws HoldfastError `invalid_option`.
 */
export function boundFetch(
	options: BoundFetchOptions,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
	checkOptions(options, boundFetchNames, { of: "boundFetch()", required: true });
	for (const name of ["origins", "silenceMs", "maxBytes"] as const)
		if (options[name] === undefined)
			throw new HoldfastTypeError("invalid_option", `boundFetch() needs the option \`${name}\`.`);
	const { headers = {}, silenceMs } = options;
	const origins = new Set(options.origins.map(originOf));
	return async (input, init = {}) => {
		const fetch = options.fetch ?? globalThis.fetch;
		const request = new Request(input, init);
		const silence = new Silence(silenceMs, request.signal);
		const body = request.body === null ? undefined : await request.arrayBuffer();
		let url = new URL(request.url);
		const { origin } = url;
		let { method } = request;
		try {
			for (let redirects = 0; ; redirects++) {
				const own = new Headers(request.headers);
				if (url.origin !== origin) for (const name of naming) own.delete(name);
				if (origins.has(url.origin))
					for (const [name, value] of Object.entries(headers)) own.set(name, value);
				const sent = body === undefined || method === "GET" ? {} : { body };
				const response = await silence.until(
					fetch(`${url}`, { method, headers: own, redirect: "manual", signal: silence.signal, ...sent }),
				);
				const location =
					response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
				if (location === null) return silence.bound(response, options);
				await response.body?.cancel();
				if (redirects === mostRedirects)
					throw new HoldfastError(
						"too_many_redirects",
						`${url.origin} redirects repeatedly. Check the address.`,
					);
				// As browsers do: only these two preserve the method and body.
				if (response.status !== 307 && response.status !== 308 && method !== "HEAD") method = "GET";
				url = new URL(location, url);
			}
		} catch (error) {
			silence.end();
			throw error;
		}
	};
}

/** Waits for a server until it has been silent for too long. */
class Silence {
	readonly #milliseconds: number;
	readonly #given: AbortSignal;
	readonly #abort = new AbortController();
	#stopTimer: (() => void) | undefined;
	readonly #left = (): void => this.#abort.abort(this.#given.reason);

	constructor(milliseconds: number, given: AbortSignal) {
		this.#milliseconds = milliseconds;
		this.#given = given;
		if (given.aborted) this.#left();
		else given.addEventListener("abort", this.#left);
	}

	get signal(): AbortSignal {
		return this.#abort.signal;
	}

	/** Resolves with `what`. Rejects if it takes too long, even if the signal is ignored. */
	async until<T>(what: Promise<T>): Promise<T> {
		what.catch(() => {});
		let giveUp = (): void => {};
		const silent = new Promise<never>((_, reject) => {
			giveUp = () => reject(this.signal.reason);
			this.signal.addEventListener("abort", giveUp);
			if (this.signal.aborted) giveUp();
		});
		const silentFor = this.#milliseconds;
		this.#stopTimer = startTimer(silentFor, () => this.#abort.abort(serverSilent(silentFor)));
		try {
			return await Promise.race([what, silent]);
		} finally {
			this.#stopTimer();
			this.signal.removeEventListener("abort", giveUp);
		}
	}

	end(): void {
		this.#stopTimer?.();
		this.#given.removeEventListener("abort", this.#left);
	}

	/** Returns the response with limits on reading its body. */
	bound(response: Response, { maxBytes, eventStreams, onTooLarge }: BoundFetchOptions): Response {
		if (response.body === null) {
			this.end();
			return response;
		}
		const reader = response.body.getReader();
		const isOfEvents = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
		const size = eventStreams === "each-event" && isOfEvents ? new EventSize() : new AnswerSize();
		const fail = (error: unknown): never => {
			this.end();
			reader.cancel(error).catch(() => {});
			throw error;
		};
		const body = new ReadableStream<Uint8Array>(
			{
				pull: async (controller) => {
					const { done, value } = await this.until(reader.read()).catch(fail);
					if (done) {
						this.end();
						controller.close();
						return;
					}
					if (size.after(value) > maxBytes) {
						onTooLarge?.();
						fail(answerTooLarge(maxBytes));
					}
					controller.enqueue(value);
				},
				cancel: (reason) => {
					this.end();
					return reader.cancel(reason);
				},
			},
			{ highWaterMark: 0 },
		);
		const { status, statusText, headers, url } = response;
		const bounded = new Response(body, { status, statusText, headers });
		Object.defineProperty(bounded, "url", { value: url });
		return bounded;
	}
}

/** Counts the bytes of a response. */
class AnswerSize {
	#bytes = 0;

	/** Returns the total after this piece. */
	after({ byteLength }: Uint8Array): number {
		this.#bytes += byteLength;
		return this.#bytes;
	}
}

const [lineFeed, carriageReturn] = [10, 13];

/** Counts the bytes of each event in an event stream. An empty line ends an event. */
class EventSize {
	#bytes = 0;
	#lineBytes = 0;
	#last = 0;

	/** Returns the size of the largest event within this piece, including its bytes in earlier pieces. */
	after(piece: Uint8Array): number {
		let most = 0;
		for (const byte of piece) {
			this.#bytes++;
			const endsLine = byte === carriageReturn || (byte === lineFeed && this.#last !== carriageReturn);
			if (endsLine) {
				if (this.#lineBytes === 0) this.#bytes = 0;
				this.#lineBytes = 0;
			} else if (byte !== lineFeed) this.#lineBytes++;
			if (this.#bytes > most) most = this.#bytes;
			this.#last = byte;
		}
		return most;
	}
}

function serverSilent(milliseconds: number): HoldfastError {
	return new HoldfastError("server_silent", `The server has sent nothing for ${milliseconds} ms.`, {
		retryable: true,
	});
}

function answerTooLarge(maxBytes: number): HoldfastError {
	return new HoldfastError(
		"answer_too_large",
		`The server's answer is larger than ${maxBytes} bytes, and was cut off.`,
	);
}

function originOf(address: string | URL): string {
	if (!URL.canParse(address))
		throw new HoldfastTypeError("invalid_option", "The option `origins` of boundFetch() must list URLs.");
	return new URL(address).origin;
}

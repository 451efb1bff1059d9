// The options of a client, parsed once on entry.

import { ClientError } from "../errors/index.ts";
import { platformTimers, type Timers } from "./timers.ts";

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Headers of every request, or a function that is called before each request, including reconnects. */
export type ClientHeaders =
	| Readonly<Record<string, string>>
	| (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** Passed to `onReconnect` before the client tries again. */
export interface ReconnectNotice {
	/** Failures in a row, including this one. */
	readonly attempt: number;
	/** Milliseconds until the next attempt. */
	readonly delayMs: number;
	/** The failure. */
	readonly error: ClientError;
}

/** Options of `createClient`. */
export interface ClientOptions {
	/** Base URL of the server, without `/api/agent`: `https://agents.example.com`, or `""` for a page's own origin. */
	readonly url: string;
	/** Sends requests. Default: the platform's `fetch`. It has to return bodies that can be read as streams. */
	readonly fetch?: Fetch;
	/** Headers for every request, for example to authenticate. Default: none. */
	readonly headers?: ClientHeaders;
	/**
	 * How many failures in a row, without an event in between, are retried. Default 10: about two minutes, or less than
	 * five seconds if the server has never answered this client, because then it is down or the address is wrong.
	 * `Infinity` never gives up, and never reports a wrong address either; 0 reports the first failure.
	 */
	readonly maxReconnects?: number;
	/** The delay before the first retry, in milliseconds; it doubles each time, and half of it is random. Default 500. */
	readonly reconnectDelayMs?: number;
	/** The longest delay before a retry, in milliseconds; only `Retry-After` can exceed it. Default 30,000. */
	readonly maxReconnectDelayMs?: number;
	/**
	 * Milliseconds without a byte after which a connection counts as dead. Default 60,000, four heartbeats of the
	 * server's default; `Infinity` trusts every connection.
	 */
	readonly idleTimeoutMs?: number;
	/** The longest accepted event, in characters. Default 33,554,432. */
	readonly maxEventCharacters?: number;
	/**
	 * How many characters are kept for a loop that is slower than `result()`. Default 1,048,576. The loop reads events
	 * beyond it from the server again.
	 */
	readonly bufferCharacters?: number;
	/** Called before each retry. Must not throw. */
	readonly onReconnect?: (notice: ReconnectNotice) => void;
	/** Time and randomness. Default: the platform's. */
	readonly timers?: Timers;
}

/** Options with every default in place. */
export interface Settings {
	readonly url: string;
	readonly fetch: Fetch;
	readonly headers: () => Promise<Readonly<Record<string, string>>>;
	readonly maxReconnects: number;
	/** The maximum total delay while the server has never answered. */
	readonly unansweredMs: number;
	/** Whether the server has ever answered; it is set with the first answer. */
	readonly contact: { hasAnswered: boolean };
	readonly reconnectDelayMs: number;
	readonly maxReconnectDelayMs: number;
	readonly idleTimeoutMs: number;
	readonly maxEventCharacters: number;
	readonly bufferCharacters: number;
	readonly onReconnect: (notice: ReconnectNotice) => void;
	readonly timers: Timers;
}

/** The expected `typeof` of an option's value; `true` leaves the check to the code that reads it. */
export type Kind = true | "string" | "boolean" | "object" | "function";

const known: Readonly<Record<keyof ClientOptions, Kind>> = {
	url: true,
	fetch: "function",
	headers: true,
	maxReconnects: true,
	reconnectDelayMs: true,
	maxReconnectDelayMs: true,
	idleTimeoutMs: true,
	maxEventCharacters: true,
	bufferCharacters: true,
	onReconnect: "function",
	timers: "object",
};

/** The delays for a server that never answered, including the time that attempts take, stay below five seconds. */
const longestUnanswered = 4_500;

/**
 * Refuses unknown names, and values of a wrong kind, in an object of options. The engine's packages share such a check;
 * this one imports none of them.
 * @throws ClientError `invalid_option`.
 */
export function checkNames(options: object, names: Readonly<Record<string, Kind>>, of: string): void {
	if (typeof options !== "object" || options === null)
		throw new ClientError("invalid_option", `${of} takes options.`);
	for (const [name, value] of Object.entries(options)) {
		if (!Object.hasOwn(names, name))
			throw new ClientError(
				"invalid_option",
				`${of} has no option \`${name}\`. Known options: ${Object.keys(names).sort().join(", ")}.`,
				{ data: { option: name } },
			);
		const kind = names[name];
		if (kind === true || value === undefined || (value !== null && typeof value === kind)) continue;
		throw new ClientError(
			"invalid_option",
			`The option \`${name}\` of ${of} must be a value of type ${kind}.`,
			{
				data: { option: name },
			},
		);
	}
}

/** @throws ClientError `invalid_option`. */
export function readOptions(options: ClientOptions): Settings {
	if (typeof options !== "object" || options === null)
		throw new ClientError(
			"invalid_option",
			'createClient takes options: `createClient({ url: "http://localhost:4280" })`.',
		);
	const { baseURL, baseUrl = baseURL } = options as {
		readonly baseURL?: unknown;
		readonly baseUrl?: unknown;
	};
	if (baseUrl !== undefined)
		throw new ClientError("invalid_option", "createClient() has no option `baseURL`. Write `url`.");
	checkNames(options, known, "createClient()");
	const { url, headers = {} } = options;
	if (typeof headers !== "function" && typeof headers !== "object")
		throw new ClientError("invalid_option", "`headers` must be an object, or a function that returns one.");
	if (typeof url !== "string") {
		throw new ClientError(
			"invalid_option",
			'createClient needs a `url`, such as "https://agents.example.com".',
		);
	}
	// Without a scheme it would be treated as a path, and the client would wait for an unreachable server.
	if (url !== "" && !/^([a-z][a-z\d+.-]*:\/)?\//i.test(url)) {
		throw new ClientError("invalid_option", `\`url\` has no scheme. Give "http://${url}".`);
	}
	return {
		url: url.replace(/\/+$/, ""),
		// Looked up late and called without an object: a page may replace it, and browsers refuse it as another object's
		// method.
		fetch: options.fetch ?? ((to, init) => fetch(to, init)),
		headers: async () => (typeof headers === "function" ? headers() : headers),
		maxReconnects: atLeastZero("maxReconnects", options.maxReconnects, 10),
		unansweredMs: options.maxReconnects === undefined ? longestUnanswered : Number.POSITIVE_INFINITY,
		contact: { hasAnswered: false },
		reconnectDelayMs: duration("reconnectDelayMs", options.reconnectDelayMs, 500),
		maxReconnectDelayMs: duration("maxReconnectDelayMs", options.maxReconnectDelayMs, 30_000),
		idleTimeoutMs: atLeastZero("idleTimeoutMs", options.idleTimeoutMs, 60_000),
		maxEventCharacters: atLeastZero("maxEventCharacters", options.maxEventCharacters, 33_554_432),
		bufferCharacters: atLeastZero("bufferCharacters", options.bufferCharacters, 1_048_576),
		onReconnect: options.onReconnect ?? (() => {}),
		timers: options.timers ?? platformTimers,
	};
}

/** With an infinite delay, the client would never reconnect. */
function duration(name: string, given: number | undefined, standard: number): number {
	const value = atLeastZero(name, given, standard);
	if (value < Number.POSITIVE_INFINITY) return value;
	throw new ClientError("invalid_option", `\`${name}\` must be finite.`);
}

function atLeastZero(name: string, given: number | undefined, standard: number): number {
	const value = given ?? standard;
	if (typeof value === "number" && value >= 0) return value;
	throw new ClientError(
		"invalid_option",
		`\`${name}\` must be a number of at least 0, not ${String(value)}.`,
	);
}

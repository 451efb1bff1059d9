// The connector for HTTP: one guarded request, and whether a retry may help.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { type OutboundOptions, type OutboundResponse, outbound } from "@holdfast/outbound";
import { checkOptions, isHoldfastError, optionNames, timeoutSignal } from "@holdfast/upp";
import type { RunnerToolContext, ToolOutput } from "../contract/index.ts";
import {
	type Connector,
	configInvalid,
	connector,
	duration,
	failed,
	inputInvalid,
	limit,
} from "./connector.ts";
import { bodyOf, retryAfter } from "./http-response.ts";

const httpConnectorNames = optionNames<HttpConnectorOptions>({
	id: "text",
	methods: "list",
	timeoutMs: "number",
	maxResponseBytes: true,
	credentials: true,
	credentialHeaders: "list",
	allowPrivate: "list",
	resolve: "function",
	maxRedirects: "number",
});

const allMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
/** Headers that belong to the connection; setting them manually could contradict it. */
const ownHeaders: ReadonlySet<string> = new Set([
	"accept-encoding",
	"connection",
	"content-length",
	"expect",
	"host",
	"idempotency-key",
	"keep-alive",
	"te",
	"trailer",
	"transfer-encoding",
	"upgrade",
]);
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Methods that the connector may use. */
export type HttpMethod = (typeof allMethods)[number];

/** Options of `httpConnector()`. */
export interface HttpConnectorOptions extends OutboundOptions {
	/** Default: `http`. */
	readonly id?: string;
	/** Default: all. If only GET and HEAD are allowed, a call that a crash interrupted is repeated. */
	readonly methods?: readonly HttpMethod[];
	/** Milliseconds for one attempt: DNS lookup, connection, redirects and the whole body. Default: 10000. */
	readonly timeoutMs?: number;
	/** Maximum size of a body in bytes after decompression. Default: 1048576. */
	readonly maxResponseBytes?: number;
	/**
	 * Headers for requests to an origin, such as its key. The model does not see them; a redirect to another origin drops
	 * them.
	 */
	readonly credentials?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** Additional headers of the input that a redirect to another origin drops, like Authorization and Cookie. */
	readonly credentialHeaders?: readonly string[];
}

interface HttpInput {
	readonly url: string;
	readonly method?: HttpMethod;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: unknown;
	readonly idempotencyKey?: string;
}

/**
 * A tool for requests to public addresses; it requires the agent's `allowNetwork`. Its output is `{ url, status, headers,
 * body }`.
 *
 * Error codes: `HTTP_STATUS`, `HTTP_TIMEOUT`, `CONNECTION_FAILED`, `SSRF_BLOCKED`, `URL_REFUSED`, `TOO_MANY_REDIRECTS`,
 * `RESPONSE_TOO_LARGE`, `RESPONSE_INVALID`, `TOOL_INPUT_INVALID`. GET and HEAD are retried after a timeout, a failed
 * connection, 429 and 502 to 504; other methods only with an `idempotencyKey`.
 * @throws HoldfastError `CONFIG_INVALID`, `DESTINATION_INVALID`.
 */
export function httpConnector(options: HttpConnectorOptions = {}): Connector {
	checkOptions(options, httpConnectorNames, { of: "httpConnector()" });
	const { id = "http", methods = allMethods, credentialHeaders = [] } = options;
	const timeoutMs = duration("timeoutMs", options.timeoutMs, 10_000);
	const maxResponseBytes = limit("maxResponseBytes", options.maxResponseBytes, 1_048_576);
	const credentials = readCredentials(options.credentials ?? {});
	if (methods.length === 0 || !methods.every((method) => allMethods.includes(method)))
		throw configInvalid(`\`methods\` can contain ${allMethods.join(", ")}`);
	const { allowPrivate, resolve, maxRedirects } = options;
	const send = outbound({
		...(allowPrivate === undefined ? {} : { allowPrivate }),
		...(resolve === undefined ? {} : { resolve }),
		...(maxRedirects === undefined ? {} : { maxRedirects }),
	});
	const changesNothing = methods.every((method) => method === "GET" || method === "HEAD");
	return connector({
		id,
		description: `Requests a public http or https address (${methods.join(", ")}) and returns status, headers and body.`,
		safeByDefault: false,
		requires: "network",
		// The attempt's own time limit expires before this one.
		timeoutMs: timeoutMs + 2_000,
		...(changesNothing ? { idempotent: true } : {}),
		schema: {
			type: "object",
			properties: {
				url: { type: "string" },
				method: { enum: [...methods] },
				headers: { type: "object", additionalProperties: { type: "string" } },
				body: { description: "A string, or data that is sent as JSON." },
				idempotencyKey: {
					type: "string",
					minLength: 1,
					maxLength: 255,
					description: "The same for each attempt at one change; allows retries of a change.",
				},
			},
			required: ["url"],
			additionalProperties: false,
		},
		async carryOut(input: HttpInput, context): Promise<ToolOutput> {
			const method = input.method ?? (methods.includes("GET") ? "GET" : (methods[0] as HttpMethod));
			const mayRepeat = method === "GET" || method === "HEAD" || input.idempotencyKey !== undefined;
			const time = timeoutSignal(timeoutMs);
			const signal = AbortSignal.any([context.signal, time]);
			const own = URL.canParse(input.url) ? (credentials.get(new URL(input.url).origin) ?? {}) : {};
			const { body, type } = bodyToSend(input.body, method);
			const headers = { ...type, ...headersOf(input), ...own };
			try {
				const response = await send({
					url: input.url,
					method,
					headers,
					...(body === undefined ? {} : { body }),
					signal,
					credentialHeaders: [...credentialHeaders, ...Object.keys(own)],
				});
				return await answer(response, { maxResponseBytes, mayRepeat, context });
			} catch (error) {
				if (context.signal.aborted) throw error;
				if (time.aborted)
					return failed("HTTP_TIMEOUT", `There was no complete answer within ${timeoutMs} ms.`, {
						retriable: mayRepeat,
					});
				if (!isHoldfastError(error)) throw error;
				return failed(error.code, error.message, { retriable: error.retryable && mayRepeat });
			}
		},
	});
}

async function answer(
	response: OutboundResponse,
	{
		maxResponseBytes,
		mayRepeat,
		context,
	}: {
		readonly maxResponseBytes: number;
		readonly mayRepeat: boolean;
		readonly context: RunnerToolContext;
	},
): Promise<ToolOutput> {
	const { url, status, headers } = response;
	const { bytes, complete } = await response.read(maxResponseBytes);
	const isGood = status >= 200 && status < 300;
	if (isGood && !complete)
		return failed("RESPONSE_TOO_LARGE", `The body is larger than ${maxResponseBytes} bytes.`, { status });
	const output = { url, status, headers, ...bodyOf(bytes, headers) };
	if (isGood) return { ok: true, output, meta: { status } };
	const wait = retryAfter(headers["retry-after"], context.clock.now());
	return failed("HTTP_STATUS", `The server answered with ${status}.`, {
		output,
		status,
		retriable: mayRepeat && passing.has(status),
		...(wait === undefined ? {} : { retryAfterMs: wait }),
		...(complete ? {} : { truncated: true }),
	});
}

function headersOf({ headers = {}, idempotencyKey }: HttpInput): Readonly<Record<string, string>> {
	const kept = Object.entries(headers).map(([given, value]) => {
		const name = given.toLowerCase();
		if (ownHeaders.has(name)) throw inputInvalid(`The header ${JSON.stringify(given)} cannot be set.`);
		return checkedHeader(name, value);
	});
	const key = idempotencyKey === undefined ? [] : [checkedHeader("idempotency-key", idempotencyKey)];
	return Object.fromEntries([...kept, ...key]);
}

function checkedHeader(name: string, value: string): readonly [string, string] {
	try {
		validateHeaderName(name);
		validateHeaderValue(name, value);
	} catch {
		throw inputInvalid(`The header ${JSON.stringify(name)} contains characters that headers cannot have.`);
	}
	return [name, value];
}

function bodyToSend(
	body: unknown,
	method: HttpMethod,
): { readonly body?: string; readonly type?: { readonly "content-type": string } } {
	if (body === undefined) return {};
	if (method === "GET" || method === "HEAD") throw inputInvalid(`A ${method} has no body.`);
	if (typeof body === "string") return { body, type: { "content-type": "text/plain;charset=utf-8" } };
	return { body: JSON.stringify(body), type: { "content-type": "application/json" } };
}

function readCredentials(
	given: NonNullable<HttpConnectorOptions["credentials"]>,
): ReadonlyMap<string, Readonly<Record<string, string>>> {
	const read = Object.entries(given).map(([key, headers]) => {
		const url = URL.parse(key);
		if (url === null || url.origin === "null" || url.href !== `${url.origin}/`)
			throw configInvalid(
				`${JSON.stringify(key)} in \`credentials\` is not an origin such as "https://example.com"`,
			);
		const named = Object.entries(headers).map(([name, value]) => checkedHeader(name.toLowerCase(), value));
		return [url.origin, Object.fromEntries(named)] as const;
	});
	return new Map(read);
}

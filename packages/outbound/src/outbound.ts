// Requests to addresses that a model or a page may have chosen. The check is part of the connection's own look-up, so the
// checked address is the one that is connected to; every redirect is checked again.
import { lookup } from "node:dns/promises";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { checkOptions, cutText, HoldfastError, optionNames } from "@holdfast/upp";
import { type Destinations, destinations, hostOf } from "./destinations.ts";
import { acceptedEncodings, failure, type OutboundResponse, responseOf } from "./response.ts";

const outboundNames = optionNames<OutboundOptions>({
	allowPrivate: "list",
	resolve: "function",
	maxRedirects: "number",
});

const longestUrl = 16_384;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const alwaysCredentials: readonly string[] = ["authorization", "cookie", "proxy-authorization"];

/** Resolves a host name to its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Options of `outbound()`. */
export interface OutboundOptions {
	/**
	 * Private destinations to allow: an address, a range such as `10.0.0.0/8`, or a host name, which then may resolve to
	 * private addresses. An address or a name may end with `:port`. Default: none.
	 */
	readonly allowPrivate?: readonly string[];
	/** Default: the resolver of the system. */
	readonly resolve?: ResolveHost;
	/** Maximum number of redirects followed. Default: 5. */
	readonly maxRedirects?: number;
}

/** One request. */
export interface OutboundRequest {
	/** An `http:` or `https:` URL. */
	readonly url: string;
	/** Default: GET. */
	readonly method?: string;
	/** Headers to send. Default: none. */
	readonly headers?: Readonly<Record<string, string>>;
	/** The body. Default: none. */
	readonly body?: string;
	/** Closes the connection, even while the body is being read. */
	readonly signal: AbortSignal;
	/** Names of headers that, like Authorization and Cookie, are not sent to another origin after a redirect. */
	readonly credentialHeaders?: readonly string[];
}

/** Sends a request and follows its redirects. */
export type SendRequest = (request: OutboundRequest) => Promise<OutboundResponse>;

/**
 * Creates a function that requests public addresses over HTTP and HTTPS. It uses no proxy and shares no connection.
 *
 * The function rejects with `URL_REFUSED` for another scheme, credentials in the address or an invalid address, with
 * `SSRF_BLOCKED`, `TOO_MANY_REDIRECTS`, `RESPONSE_INVALID`, `CONNECTION_FAILED` (`retryable`), or the reason of the
 * signal.
 * @throws HoldfastError `DESTINATION_INVALID` for an invalid entry of `allowPrivate`.
 * @example
 * ```ts no-run
 * import { outbound } from "@holdfast/outbound";
 * const send = outbound();
 * const response = await send({ url: "https://example.com/", signal: AbortSignal.timeout(10_000) });
 * const { bytes } = await response.read(1_000_000);
 * ```
 */
export function outbound(options: OutboundOptions = {}): SendRequest {
	checkOptions(options, outboundNames, { of: "outbound()" });
	const { allowPrivate = [], resolve = systemResolver, maxRedirects = 5 } = options;
	const allowed = destinations(allowPrivate);
	return async (request) => {
		const { signal, credentialHeaders = [] } = request;
		const credentials = new Set(
			[...alwaysCredentials, ...credentialHeaders].map((name) => name.toLowerCase()),
		);
		let hop: Hop = {
			url: readUrl(request.url),
			method: request.method ?? "GET",
			headers: lowerCase(request.headers ?? {}),
			...(request.body === undefined ? {} : { body: request.body }),
		};
		for (let followed = 0; ; followed++) {
			const message = await connect(hop, { allowed, resolve, signal });
			const { location } = message.headers;
			if (location === undefined || !redirects.has(message.statusCode ?? 0))
				return responseOf(message, { ...hop, signal });
			message.destroy();
			if (followed >= maxRedirects)
				throw new HoldfastError("TOO_MANY_REDIRECTS", `There were more than ${maxRedirects} redirects.`);
			hop = redirected(hop, readUrl(location, hop.url), message.statusCode as number, credentials);
		}
	};
}

/** One request of a chain of redirects. */
interface Hop {
	readonly url: URL;
	readonly method: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string;
}

function readUrl(given: string, base?: URL): URL {
	const refused = (why: string): HoldfastError =>
		new HoldfastError("URL_REFUSED", `The address ${JSON.stringify(cutText(String(given), 200))} ${why}.`);
	if (typeof given !== "string" || given.length > longestUrl) throw refused("is too long");
	const url = URL.parse(given, base);
	if (url === null) throw refused("cannot be read; start it with https://");
	if (url.protocol !== "http:" && url.protocol !== "https:") throw refused("is neither http nor https");
	// Not repeated in the message: it may contain a password.
	if (url.username !== "" || url.password !== "")
		throw new HoldfastError("URL_REFUSED", "An address with a user name or password is refused.");
	if (hostOf(url) === "") throw refused("has no host");
	return url;
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns the next request, as browsers do; headers dropped for another origin are never restored. */
function redirected(from: Hop, url: URL, status: number, credentials: ReadonlySet<string>): Hop {
	const isPost = from.method === "POST" && (status === 301 || status === 302);
	const becomesGet = isPost || (status === 303 && from.method !== "HEAD");
	const leaves = url.origin !== from.url.origin;
	const kept = Object.entries(from.headers).filter(([name]) => {
		if (leaves && credentials.has(name)) return false;
		return !(becomesGet && name.startsWith("content-"));
	});
	const headers = Object.fromEntries(kept);
	if (becomesGet) return { url, method: "GET", headers };
	return { url, method: from.method, headers, ...(from.body === undefined ? {} : { body: from.body }) };
}

interface Connecting {
	readonly allowed: Destinations;
	readonly resolve: ResolveHost;
	readonly signal: AbortSignal;
}

async function connect(hop: Hop, { allowed, resolve, signal }: Connecting): Promise<IncomingMessage> {
	const { url, method, body } = hop;
	signal.throwIfAborted();
	allowed.checkName(url);
	// A literal address bypasses the look-up.
	if (isIP(hostOf(url)) !== 0) allowed.checkAddress(url, hostOf(url));
	const isSecure = url.protocol === "https:";
	try {
		return await new Promise((onResponse, reject) => {
			const request = (isSecure ? httpsRequest : httpRequest)(url, {
				method,
				headers: { "user-agent": "holdfast", "accept-encoding": acceptedEncodings, ...hop.headers },
				signal,
				// A separate agent: a pooled connection was not checked here, and no proxy from the environment is used.
				agent: isSecure ? new HttpsAgent() : new HttpAgent(),
				lookup: checkedLookup(url, allowed, resolve),
			});
			request.on("response", onResponse);
			request.on("error", reject);
			request.end(body);
		});
	} catch (error) {
		throw failure(error, signal);
	}
}

/** Creates a look-up that checks every address; only checked ones are connected to. */
function checkedLookup(url: URL, allowed: Destinations, resolve: ResolveHost): LookupFunction {
	return (hostname, { all }, callback) => {
		const found = resolve(hostname).then((addresses) => {
			if (addresses.length === 0) throw new Error(`${hostname} has no address`);
			for (const address of addresses) allowed.checkAddress(url, address);
			return addresses.map((address) => ({ address, family: isIP(address) }));
		});
		found.then(
			(addresses) => {
				const [first] = addresses;
				if (all === true) callback(null, addresses);
				else callback(null, first?.address ?? "", first?.family);
			},
			(error) => callback(error, "", 0),
		);
	};
}

async function systemResolver(hostname: string): Promise<readonly string[]> {
	const found = await lookup(hostname, { all: true });
	return found.map(({ address }) => address);
}

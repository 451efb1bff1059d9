// Decides which pages may call this server, and which host names it answers to. A server without authentication answers
// to loopback names only, so a foreign name that was made to point at it (DNS rebinding) finds nothing. A page of another
// origin is accepted only if its origin was configured.
import { HoldfastError } from "holdfast";

/** The accepted origins. */
export interface OriginRules {
	/** Origins of pages that may call this server and read its responses. */
	readonly cors: ReadonlySet<string>;
	/** Host names this server answers to; undefined means every name. */
	readonly hosts: ((name: string) => boolean) | undefined;
}

const preflightHeaders = {
	"access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
	"access-control-allow-headers": "content-type, authorization, x-api-key, idempotency-key, last-event-id",
	"access-control-max-age": "600",
} as const;

/** Whether a host name or address, with or without a port, is this machine. */
export function isLoopback(host: string): boolean {
	const name = nameOf(host);
	return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** Returns the name in a Host header, without its port. */
export function nameOf(host: string): string {
	const [, bracketed, plain] = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
	return bracketed ?? plain ?? host.toLowerCase();
}

/**
 * Checks a request's Host and Origin headers.
 * @throws HoldfastError `host_not_allowed`, `origin_not_allowed`.
 */
export function checkOrigin(request: Request, { cors, hosts }: OriginRules): void {
	const host = request.headers.get("host") ?? new URL(request.url).host;
	if (hosts !== undefined && !hosts(nameOf(host)))
		throw new HoldfastError(
			"host_not_allowed",
			"This server does not accept requests for this host name. Without authentication, it accepts only loopback names: set `apiKeys` or `authenticate`, or list the host in `allowedHosts`.",
		);
	const origin = request.headers.get("origin");
	if (origin === null || cors.has(origin) || isSameHost(origin, host)) return;
	throw new HoldfastError(
		"origin_not_allowed",
		"Pages of this origin are not allowed to call this server. List the origin in `cors`.",
	);
}

/** Returns the response to a CORS preflight; undefined if the request is not one. */
export function answerPreflight(request: Request): Response | undefined {
	if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined;
	return new Response(null, { status: 204, headers: preflightHeaders });
}

/** Returns the headers that let a page of a configured origin read a response. */
export function corsHeaders(request: Request, { cors }: OriginRules): Readonly<Record<string, string>> {
	if (cors.size === 0) return {};
	const origin = request.headers.get("origin");
	if (origin === null || !cors.has(origin)) return { vary: "Origin" };
	return {
		vary: "Origin",
		"access-control-allow-origin": origin,
		"access-control-expose-headers": "X-Session-Id, Retry-After",
	};
}

function isSameHost(origin: string, host: string): boolean {
	return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

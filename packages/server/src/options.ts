// The options of a handler, parsed once on entry.
import { checkOptions, HoldfastTypeError, type OptionKind, readDuration } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { StoreStats } from "holdfast/host";
import type { FailedAttempts, RateLimit } from "./access/index.ts";
import {
	type Authenticate,
	type Authenticator,
	authenticateByHook,
	authenticateByKey,
	isLoopback,
	nameOf,
	type OriginRules,
} from "./access/index.ts";
import type { Route } from "./http/index.ts";
import type { SessionService } from "./service/index.ts";
import type { RequestLogEntry } from "./telemetry/index.ts";

/** Options of `createHandler`. */
export interface HandlerOptions {
	/** The session service, from `sessionService()`. Default: none, if `routes` serve something else. */
	readonly service?: SessionService;
	/**
	 * Authenticates a request: returns `{ tenant, user?, claims? }`, or undefined, which answers 401. Tenants do not see
	 * each other's sessions, nor do users (`sessionsOf` of the service). Holdfast records the caller with each run that
	 * the request starts, and passes it to tools, approvals, hooks and logs. Called for every request, so it should be
	 * quick. Default: every caller is the tenant `default`.
	 */
	readonly authenticate?: Authenticate;
	/**
	 * Keys and their tenants, sent as `Authorization: Bearer KEY` or `X-API-Key: KEY`. Stored as digests. An alternative
	 * to `authenticate` for servers whose keys are known at startup. Default: none.
	 */
	readonly apiKeys?: Readonly<Record<string, string>>;
	/**
	 * The number of failed authentication attempts from one address (for IPv6, one /64 network) per window. Beyond it,
	 * the address gets 429 until the window ends, and its requests are not examined. Credentials that it has used
	 * successfully are still accepted, because many clients may share an address. A request without a key is not an
	 * attempt. A lower value stops guessing earlier, but also locks out new users of a shared address sooner. Counted
	 * in this process. `"unlimited"` leaves the limit to a proxy in front of the server. Default 100 in 60,000 ms.
	 */
	readonly failedAttempts?: FailedAttempts | "unlimited";
	/**
	 * Header in which a proxy in front of this server passes the client's address: `X-Real-IP`, or `X-Forwarded-For`,
	 * whose last address counts. Set it only if all requests pass through the proxy, because other clients could send any
	 * address. Default: none, the address of the connection counts.
	 */
	readonly peerHeader?: string;
	/**
	 * Answers every caller, even on an address that other machines can reach. Only for a server whose proxy
	 * authenticates. Default `false`: without authentication, the server is available on loopback only.
	 */
	readonly allowUnauthenticated?: boolean;
	/**
	 * Host names without a port that this server answers to, in addition to loopback names. Default: with authentication
	 * every name; without it loopback names only, to prevent DNS rebinding.
	 */
	readonly allowedHosts?: readonly string[];
	/**
	 * Paths that are answered without authentication, such as `/healthz` for a probe that cannot send a key.
	 * Default: none.
	 */
	readonly publicPaths?: readonly string[];
	/**
	 * Origins of pages that may call this server from a browser, such as `https://app.example.com`. Each entry opens the
	 * server to all scripts of that origin. Default: none but the server's own.
	 */
	readonly cors?: readonly string[];
	/**
	 * Maximum size of a request body in bytes. A higher value allows larger files and costs memory per request. Default 4
	 * MiB.
	 */
	readonly maxBodyBytes?: number;
	/**
	 * Milliseconds of silence on a stream after which a comment line is sent. A lower value keeps stricter proxies from
	 * closing the stream, and costs one packet per stream each time. A reader that takes nothing for four times as long
	 * is disconnected. Default 15,000.
	 */
	readonly heartbeatMs?: number;
	/**
	 * Bytes buffered for one reader of a stream that is slower than its run. Beyond them it reads from the session store
	 * at its own pace, and a reader that has stopped is disconnected after five seconds. So is a reader with as much of a
	 * large record waiting, if 64 times as much waits for all readers. A higher value saves reads and costs memory per
	 * session. Default 1 MiB.
	 */
	readonly maxBufferedBytes?: number;
	/** Requests a tenant may make in a window; further ones answer 429. Counted in this process. Default: no limit. */
	readonly rateLimit?: RateLimit;
	/**
	 * Maximum number of a tenant's runs in flight that arrived at this server; further ones answer 429. Default: no
	 * limit.
	 */
	readonly maxConcurrentRuns?: number;
	/**
	 * Maximum number of a tenant's open streams; further ones answer 429, and a run is refused before it is accepted. A
	 * stream whose reader has stopped keeps its largest record in memory until it is closed. `"unlimited"` leaves the
	 * limit to a proxy in front of the server. Counted in this process. Default 1,000.
	 */
	readonly maxStreams?: number | "unlimited";
	/**
	 * Called with every request, and with errors whose details callers do not get. It must not throw. Default: nothing is
	 * logged.
	 */
	readonly log?: (entry: RequestLogEntry) => void;
	/**
	 * Numbers of the store behind `routes`, for `/metrics`: `host.stats` of a host that has a queue. Default: those of
	 * the store of `service`.
	 */
	readonly storeStats?: () => Promise<StoreStats>;
	/** Routes in addition to the server's own; they share its authentication, limits, streams and OpenAPI document. */
	readonly routes?: readonly Route[];
}

/** The options as the handler uses them. */
export interface ResolvedOptions {
	/** Undefined if there are no sessions. */
	readonly service: SessionService | undefined;
	/** Undefined if every caller is accepted. */
	readonly authenticator: Authenticator | undefined;
	/** Whether callers are authenticated, or the server answers to loopback names only. */
	readonly isProtected: boolean;
	/** Undefined for no limit. */
	readonly failedAttempts: FailedAttempts | undefined;
	readonly peerHeader: string | undefined;
	readonly publicPaths: ReadonlySet<string>;
	readonly origins: OriginRules;
	readonly maxBodyBytes: number;
	readonly heartbeatMs: number;
	readonly maxBufferedBytes: number;
	readonly rateLimit: RateLimit | undefined;
	readonly maxConcurrentRuns: number | undefined;
	readonly maxStreams: number | undefined;
	readonly log: (entry: RequestLogEntry) => void;
	readonly routes: readonly Route[];
	readonly storeStats: (() => Promise<StoreStats>) | undefined;
}

const MiB = 1024 * 1024;

/** The names of the options, and the kinds of those that nothing else checks. */
export const handlerOptions: Readonly<Record<keyof HandlerOptions, OptionKind>> = {
	service: true,
	authenticate: "function",
	apiKeys: true,
	failedAttempts: true,
	peerHeader: true,
	allowUnauthenticated: "flag",
	allowedHosts: "texts",
	publicPaths: "texts",
	cors: "texts",
	maxBodyBytes: true,
	heartbeatMs: true,
	maxBufferedBytes: true,
	rateLimit: true,
	maxConcurrentRuns: true,
	maxStreams: true,
	log: "function",
	routes: "list",
	storeStats: "function",
};

const insteadInServers = {
	agent: "Write `service: sessionService({ agent, host })`, or call `listen({ agent })`.",
	agents: "Write `agentFor`, which chooses the agent of a session.",
	token: "Write `apiKeys`, or `authenticate`.",
	auth: "Write `apiKeys`, or `authenticate`.",
};

/**
 * Refuses unknown options and values of a wrong kind: a misspelt option that restricts callers would have no effect.
 * @throws HoldfastError `invalid_option`.
 */
export function refuseUnknown(options: object, known: Readonly<Record<string, OptionKind>>): void {
	const wrong = typeof options !== "object" || options === null || Array.isArray(options);
	if (wrong || "generate" in options)
		throw new HoldfastTypeError(
			"invalid_option",
			"A server takes an object of options, such as `listen({ agent, port })`.",
		);
	checkOptions(options, new Map(Object.entries(known)), { of: "A server", instead: insteadInServers });
}

/**
 * Parses the options.
 * @throws HoldfastError `invalid_option`, `conflicting_options`.
 */
export function resolveOptions(options: HandlerOptions): ResolvedOptions {
	refuseUnknown(options, handlerOptions);
	const isMissing = options.service === undefined && (options.routes ?? []).length === 0;
	if (isMissing || (options.service !== undefined && typeof options.service?.submit !== "function"))
		throw new HoldfastError(
			"invalid_option",
			"`service` is missing. Pass the return value of `sessionService()`.",
		);
	if (options.authenticate !== undefined && options.apiKeys !== undefined)
		throw new HoldfastError(
			"conflicting_options",
			"Both `authenticate` and `apiKeys` identify callers. Give one of them.",
		);
	const counted = (["maxConcurrentRuns", "maxStreams"] as const).find(
		(name) => typeof options[name] === "number",
	);
	if (counted !== undefined && options.service?.sharesFollowing === false)
		throw new HoldfastError(
			"conflicting_options",
			`\`${counted}\` cannot be enforced here, because nothing outlives a request of this service. Let the service count.`,
		);
	const authenticator = authenticatorOf(options);
	return {
		service: options.service,
		authenticator,
		isProtected:
			authenticator !== undefined ||
			(options.allowUnauthenticated !== true && options.allowedHosts === undefined),
		failedAttempts: checkedAttempts(options.failedAttempts),
		peerHeader: checkedHeader(options.peerHeader),
		publicPaths: new Set(options.publicPaths),
		origins: {
			cors: new Set(options.cors?.map(checkedOrigin)),
			hosts: allowedHosts(options, authenticator !== undefined || options.allowUnauthenticated === true),
		},
		maxBodyBytes: atLeast("maxBodyBytes", 1, options.maxBodyBytes ?? 4 * MiB),
		heartbeatMs: readDuration("heartbeatMs", options.heartbeatMs, 15_000, { least: 1 }),
		maxBufferedBytes: atLeast("maxBufferedBytes", 1, options.maxBufferedBytes ?? MiB),
		rateLimit: checkedRate(options.rateLimit),
		maxConcurrentRuns:
			options.maxConcurrentRuns === undefined
				? undefined
				: atLeast("maxConcurrentRuns", 1, options.maxConcurrentRuns),
		maxStreams:
			options.maxStreams === "unlimited" ? undefined : atLeast("maxStreams", 1, options.maxStreams ?? 1_000),
		log: quiet(options.log),
		routes: options.routes ?? [],
		storeStats: options.storeStats ?? options.service?.storeStats,
	};
}

function authenticatorOf({ authenticate, apiKeys }: HandlerOptions): Authenticator | undefined {
	if (authenticate !== undefined) return authenticateByHook(authenticate);
	return apiKeys === undefined ? undefined : authenticateByKey(apiKeys);
}

function allowedHosts(
	{ allowedHosts: names }: HandlerOptions,
	isOpen: boolean,
): ((name: string) => boolean) | undefined {
	if (names === undefined && isOpen) return undefined;
	const allowed = new Set(names?.map(nameOf));
	return (name) => allowed.has(name) || isLoopback(name);
}

function checkedOrigin(origin: string): string {
	if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
	throw new HoldfastError(
		"invalid_option",
		`\`cors\` has "${origin}", which is not an origin. Give scheme, host and port only: "https://app.example.com".`,
	);
}

function checkedRate(limit: RateLimit | undefined): RateLimit | undefined {
	if (limit === undefined) return undefined;
	return {
		requests: atLeast("rateLimit.requests", 1, limit.requests),
		windowMs: readDuration("rateLimit.windowMs", limit.windowMs ?? Number.NaN, 0, { least: 1 }),
	};
}

function checkedAttempts(limit: HandlerOptions["failedAttempts"]): FailedAttempts | undefined {
	if (limit === "unlimited") return undefined;
	const { attempts, windowMs } = limit ?? { attempts: 100, windowMs: 60_000 };
	return {
		attempts: atLeast("failedAttempts.attempts", 1, attempts),
		windowMs: readDuration("failedAttempts.windowMs", windowMs ?? Number.NaN, 0, { least: 1 }),
	};
}

function checkedHeader(name: string | undefined): string | undefined {
	if (name === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name;
	throw new HoldfastError(
		"invalid_option",
		"`peerHeader` is not the name of a header. Pass one: `X-Real-IP`.",
	);
}

function atLeast(name: string, least: number, value: number): number {
	if (Number.isFinite(value) && value >= least) return value;
	throw new HoldfastError("invalid_option", `\`${name}\` is ${value}. Give a number of at least ${least}.`);
}

/** An error in the log must not fail a request. */
function quiet(log: HandlerOptions["log"]): (entry: RequestLogEntry) => void {
	return (entry) => {
		try {
			log?.(entry);
		} catch {}
	};
}

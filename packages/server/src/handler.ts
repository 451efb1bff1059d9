// A fetch handler over a session service: it admits or refuses a request, finds its route, responds, logs and counts. It
// checks host and origin first, then the identity, then the rate; until then it reads no body and calls no model (I7,
// I9).

import { HoldfastError } from "holdfast";
import { readCaller } from "holdfast/execute";
import { Hono } from "hono";
import { addressInHeader, answerPreflight, checkOrigin, corsHeaders, peerName } from "./access/index.ts";
import { type Connection, Exchange } from "./exchange.ts";
import type { Route } from "./http/index.ts";
import { refusalOf, refuse, shuttingDown } from "./http/index.ts";
import { type HandlerOptions, resolveOptions } from "./options.ts";
import { makeParts, type Parts } from "./parts.ts";
import { routeTable } from "./route-table.ts";
import type { ServedCaller } from "./service/index.ts";

/** A handler of requests. */
export interface Handler {
	/** Answers a request. Never rejects. */
	readonly fetch: (request: Request, connection?: Connection) => Promise<Response>;
	/** Answers new POSTs with 503 `shutting_down` from now on; current runs continue. */
	readonly drain: () => void;
	/**
	 * Ends all streams, so that watchers reconnect to another server; they have `graceMs` to receive what is already
	 * available. Does not close sessions.
	 */
	readonly close: (graceMs?: number) => Promise<void>;
	/** Whether callers are authenticated; required of a server that other machines can reach. */
	readonly isAuthenticated: boolean;
}

/** A request and its outcome, for the log. */
interface Visit {
	readonly request: Request;
	readonly connection: Connection;
	readonly startedAt: number;
	readonly time: string;
	caller: ServedCaller | undefined;
	route: string;
	exchange: Exchange | undefined;
	/** Statuses of the codes that are the route's own. */
	statuses: Readonly<Record<string, number>> | undefined;
	code: string | undefined;
}

/** The caller of every request if there is no authentication. */
const anybody: ServedCaller = { tenant: "default" };

/**
 * Creates a request handler from a session service. It runs on every platform with `Request` and `Response`.
 * @throws HoldfastError `invalid_option`, `conflicting_options`.
 */
export function createHandler(given: HandlerOptions): Handler {
	const options = resolveOptions(given);
	const parts = makeParts(options);
	let isDraining = false;
	const routes = routeTable(parts, () => isDraining);
	const app = mount(routes, parts);

	const enter = async (visit: Visit): Promise<Response> => {
		const { request } = visit;
		checkOrigin(request, options.origins);
		const preflight = answerPreflight(request);
		if (preflight !== undefined) return preflight;
		visit.caller = await callerOf(visit, parts);
		if (isDraining && request.method === "POST") throw shuttingDown();
		if (visit.caller !== undefined) parts.rate?.count(visit.caller.tenant);
		return app.fetch(request, { visit });
	};

	const fetch = async (request: Request, connection: Connection = {}): Promise<Response> => {
		const visit: Visit = {
			request,
			connection,
			startedAt: performance.now(),
			time: new Date().toISOString(),
			caller: undefined,
			route: "none",
			exchange: undefined,
			statuses: undefined,
			code: undefined,
		};
		let response: Response;
		try {
			response = await enter(visit);
		} catch (error) {
			response = answerError(error, visit, parts);
		}
		const headers = corsHeaders(request, options.origins);
		for (const name in headers) response.headers.set(name, headers[name] as string);
		response.headers.set("x-content-type-options", "nosniff");
		conclude(visit, response.status, parts);
		return response;
	};

	return {
		fetch,
		drain() {
			isDraining = true;
			parts.feeds.hurry();
		},
		async close(graceMs = 0) {
			isDraining = true;
			parts.stopObserving();
			parts.feeds.close();
			await parts.streams.whenEmpty(graceMs);
			parts.streams.end("closed");
		},
		isAuthenticated: options.authenticator !== undefined,
	};
}

type Environment = { Bindings: { visit: Visit } };

/** Mounts the routes, and answers requests that match none of them. */
function mount(routes: readonly Route[], parts: Parts): Hono<Environment> {
	const app = new Hono<Environment>();
	// The order of the table does not matter: a catch-all route never takes a request from a named one.
	const isForAll = ({ path }: Route): boolean => path.endsWith("*");
	for (const route of [...routes.filter((each) => !isForAll(each)), ...routes.filter(isForAll)]) {
		app.on(route.method, route.path, (context) => {
			const { visit } = context.env;
			visit.route = route.path;
			visit.statuses = route.statuses;
			const parameters: Readonly<Record<string, string>> = context.req.param();
			const { request, connection, caller = anybody } = visit;
			visit.exchange = new Exchange(parts, request, caller, connection, parameters);
			return route.handle(visit.exchange);
		});
	}
	const named = routes.filter(({ method }) => method !== "ALL");
	for (const path of new Set(named.map(({ path }) => path))) {
		const allow = named.filter((route) => route.path === path).map(({ method }) => method);
		app.all(path, ({ env }) => {
			env.visit.route = path;
			throw new HoldfastError("method_not_allowed", `This path takes ${allow.join(" and ")} only.`, {
				data: { allow: allow.join(", ") },
			});
		});
	}
	app.notFound(() => {
		throw new HoldfastError("route_not_found", "This path does not exist. See /openapi.json.");
	});
	app.onError((error, { env }) => answerError(error, env.visit, parts));
	return app;
}

async function callerOf(
	{ request, connection }: Visit,
	{ options, attempts }: Parts,
): Promise<ServedCaller | undefined> {
	const { authenticator, publicPaths, peerHeader } = options;
	if (authenticator === undefined) return anybody;
	if (publicPaths.has(new URL(request.url).pathname)) return undefined;
	const shown = await authenticator.shownIn(request.headers);
	if (shown === undefined) throw unauthorized();
	const given = peerHeader === undefined ? undefined : addressInHeader(request.headers, peerHeader);
	const peer = peerName(given ?? connection.address);
	const look = async (): Promise<ServedCaller | undefined> => {
		const found = await authenticator.callerOf(request, shown);
		return typeof found?.tenant === "string" && found.tenant !== "" ? found : undefined;
	};
	const found =
		attempts === undefined || peer === undefined ? await look() : await attempts.attempt(peer, shown, look);
	if (found === undefined) throw unauthorized();
	return readCaller(found) as ServedCaller;
}

function unauthorized(): HoldfastError {
	return new HoldfastError("unauthorized", "The credentials are missing or not valid. Send a key.");
}

function answerError(error: unknown, visit: Visit, parts: Parts): Response {
	const refusal = refusalOf(error, visit.statuses);
	visit.code = refusal.code;
	if (refusal.status === 500) parts.report(error);
	return refuse(refusal);
}

/** Counts and logs a request, or lets its stream do so when it ends. */
function conclude(visit: Visit, status: number, { metrics, options }: Parts): void {
	const { request, route, caller, exchange, code, time, startedAt } = visit;
	metrics.countRequest(route, request.method, status);
	// Created here, so that an open stream retains these few strings and not its request.
	const sessionId = exchange?.notes.sessionId;
	const entry = {
		type: "request",
		time,
		method: request.method.slice(0, 16),
		route,
		status,
		...(code === undefined ? {} : { code }),
		...(caller === undefined ? {} : { tenant: caller.tenant }),
		...(caller?.user === undefined ? {} : { user: caller.user }),
		...(sessionId === undefined ? {} : { sessionId }),
	} as const;
	const spent = (): { durationMs: number } => ({
		durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
	});
	const whenEnded = exchange?.notes.whenEnded;
	if (whenEnded === undefined) {
		exchange?.answered();
		options.log({ ...entry, ...spent() });
	} else whenEnded((stream, bytes) => options.log({ ...entry, ...spent(), stream, bytes }));
}

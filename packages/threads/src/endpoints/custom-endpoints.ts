// Endpoints and controllers of the project. Thread endpoints are below the id of a thread, controllers below `/api`; the
// server's own routes take precedence.
import type { Route } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import { isThreadEndpoint } from "../define/index.ts";
import type { ControllerContext, ControllerReturn, Project, ProjectEndpoint } from "../types/index.ts";
import { THREAD_ENDPOINT_SYMBOL } from "../types/index.ts";
import { type MatchRoute, routeMatcher } from "./match-route.ts";
import { requestedThread, statuses, type ThreadRoutesOptions } from "./served-threads.ts";

interface Matchers {
	readonly ofThreads: MatchRoute<ProjectEndpoint>;
	readonly controllers: MatchRoute<ProjectEndpoint>;
}

/** Returns the routes: they handle requests that no other route handles. */
export function customRoutes(options: ThreadRoutesOptions): readonly Route[] {
	const { threads } = options;
	const prepared = new WeakMap<Project, Matchers>();
	// After a reload the project is a different value.
	const matchers = (): Matchers => {
		const { project } = threads;
		const known = prepared.get(project) ?? {
			ofThreads: routeMatcher(project.endpoints.filter(({ handler }) => isThreadEndpoint(handler))),
			controllers: routeMatcher(project.endpoints.filter(({ handler }) => !isThreadEndpoint(handler))),
		};
		prepared.set(project, known);
		return known;
	};
	const endpoint: Route = {
		method: "ALL",
		path: "/api/threads/:id/*",
		name: "threadEndpoint",
		summary: "An endpoint of the project.",
		answers: {},
		statuses,
		async handle(exchange) {
			const { state } = await requestedThread(options, exchange);
			const { request } = exchange;
			const prefix = `/api/threads/${encodedId(request)}`;
			const found = matchers().ofThreads(methodOf(request), pathnameOf(request).slice(prefix.length));
			if (found === undefined) throw nothingHere();
			const { handler } = found.route;
			if (!isThreadEndpoint(handler)) throw nothingHere();
			const { redact } = await threads.redaction(state.threadId);
			return guarded(async () => handler[THREAD_ENDPOINT_SYMBOL](request, state, found.params), redact);
		},
	};
	const controller: Route = {
		method: "ALL",
		path: "/api/*",
		name: "controller",
		summary: "A controller of the project.",
		answers: {},
		handle(exchange) {
			const { request } = exchange;
			const found = matchers().controllers(methodOf(request), pathnameOf(request).slice("/api".length));
			if (found === undefined) throw nothingHere();
			const { handler } = found.route;
			const context = {
				req: request,
				params: found.params,
				url: new URL(request.url),
				env: { ...options.env },
				...registriesOf(threads.project),
			};
			return guarded(async () => (handler as (given: typeof context) => ControllerReturn)(context));
		},
	};
	return [endpoint, controller];
}

const registered = ["agents", "prompts", "models", "tools", "hooks", "effects"] as const;

/** Returns loaders of a project's definitions by name. The definitions are loaded already. */
function registriesOf(project: Project): Pick<ControllerContext, (typeof registered)[number]> {
	return Object.fromEntries(
		registered.map((kind) => [
			kind,
			Object.fromEntries(
				[...project[kind].values()].map(({ name, definition }) => [name, async () => definition as unknown]),
			),
		]),
	);
}

/** HEAD is GET without a body, which the platform omits. */
function methodOf({ method }: Request): string {
	return method === "HEAD" ? "GET" : method;
}

function pathnameOf({ url }: Request): string {
	return new URL(url).pathname;
}

/** Returns the thread's id segment, still encoded. */
function encodedId(request: Request): string {
	return pathnameOf(request).split("/")[3] ?? "";
}

/**
 * Runs a project's own code and returns its response. An error that it throws has no server code, even if it claims one:
 * it is reported, and answered as `internal_error` without its message.
 */
async function guarded(
	answer: () => Promise<unknown>,
	redact: (error: unknown) => unknown = (error) => error,
): Promise<Response> {
	let given: unknown;
	try {
		given = await answer();
	} catch (cause) {
		const shown = redact(cause);
		const failed = new HoldfastError("endpoint_failed", "An endpoint of the project failed.", {
			cause: shown,
		});
		// The log shows the location of an error inside the project.
		if (shown instanceof Error && shown.stack !== undefined) failed.stack = shown.stack;
		throw failed;
	}
	return responseOf(given);
}

/** Returns a response unchanged; wraps text, streams and data. */
function responseOf(given: unknown): Response {
	// The server adds headers of its own, which some responses do not allow.
	if (given instanceof Response) return new Response(given.body, given);
	if (given === undefined || given === null) return new Response(null, { status: 204 });
	if (typeof given === "string") return new Response(given);
	if (given instanceof ReadableStream) return new Response(given);
	return Response.json(given);
}

function nothingHere(): HoldfastError {
	return new HoldfastError("route_not_found", "This path does not exist. See /openapi.json.");
}

// The Worker in front of the objects, with the HTTP routes of `@holdfast/server`.
import { createHandler, type HandlerOptions } from "@holdfast/server";
import { type EdgeServiceOptions, edgeService } from "./edge-service.ts";

/**
 * Options of a Worker: the bindings of its sessions, and the options of `createHandler` except its service. The session
 * objects count runs (`maxConcurrentRuns` of `sessionObject`); streams are not counted.
 */
export type EdgeHandlerOptions = EdgeServiceOptions &
	Omit<HandlerOptions, "service" | "maxConcurrentRuns" | "maxStreams">;

/** A Worker's default export. */
export interface EdgeHandler<Env> {
	/** Answers a request: authenticates it, and forwards it to the object of its session. */
	fetch(request: Request, env: Env): Promise<Response>;
}

/**
 * Creates a Worker that serves the sessions of objects. `make` returns their bindings, the authentication, and other
 * options of `createHandler`. It is called once per set of bindings.
 * @throws HoldfastError `invalid_option`, `conflicting_options`, with the first request.
 */
export function edgeHandler<Env extends object>(make: (env: Env) => EdgeHandlerOptions): EdgeHandler<Env> {
	const handlers = new WeakMap<Env, ReturnType<typeof createHandler>>();
	const handlerOf = (env: Env): ReturnType<typeof createHandler> => {
		const known = handlers.get(env);
		if (known !== undefined) return known;
		const { sessions, directory, sessionsOf, clients, ...options } = make(env);
		const service = edgeService({
			sessions,
			...(directory === undefined ? {} : { directory }),
			...(sessionsOf === undefined ? {} : { sessionsOf }),
			...(clients === undefined ? {} : { clients }),
		});
		const handler = createHandler({ ...options, service });
		handlers.set(env, handler);
		return handler;
	};
	return {
		async fetch(request, env) {
			const address = request.headers.get("cf-connecting-ip");
			return handlerOf(env).fetch(request, address === null ? {} : { address });
		},
	};
}

// Endpoints: HTTP routes of a project.
import type { THREAD_ENDPOINT_SYMBOL } from "./thread-endpoint-symbol.ts";
import type { ThreadState } from "./thread-state.ts";

/** Loads a definition on demand. */
export type VirtualModuleLoader<T> = () => Promise<T>;
/** Loaders by name. */
export type VirtualModuleRegistry<T> = Record<string, VirtualModuleLoader<T>>;

/** The argument of a controller. */
export interface ControllerContext {
	/** The request. */
	req: Request;
	/** The values of the route's dynamic segments. */
	params: Record<string, string>;
	/** The request's URL. */
	url: URL;
	/** The resources that the program passes to its controllers. */
	env: Record<string, unknown>;
	/** The thread, for a route below a thread's ID. */
	state?: ThreadState;
	/** Agents by name. */
	agents?: VirtualModuleRegistry<unknown>;
	/** Prompts by name. */
	prompts?: VirtualModuleRegistry<unknown>;
	/** Models by name. */
	models?: VirtualModuleRegistry<unknown>;
	/** Tools by name. */
	tools?: VirtualModuleRegistry<unknown>;
	/** Hooks by ID. */
	hooks?: VirtualModuleRegistry<unknown>;
	/** Effects by name. */
	effects?: VirtualModuleRegistry<unknown>;
}

/** The return value of a controller: a response, text, a stream, or data that is sent as JSON. */
export type ControllerReturn =
	| Response
	| string
	| ReadableStream
	| object
	| null
	| undefined
	| Promise<Response | string | ReadableStream | object | null | undefined>;

/** Answers a request. */
export type Controller = (context: ControllerContext) => ControllerReturn;

/** The values of a route's dynamic segments: `id` for `[id]`, `*` for `[*]`. */
export type ThreadEndpointRouteParams = Record<string, string>;

/** Answers a request below a thread's ID. */
export type ThreadEndpointHandler = (
	req: Request,
	state: ThreadState,
	params: ThreadEndpointRouteParams,
) => Response | Promise<Response>;

/** A controller created by {@link defineThreadEndpoint}. */
export interface MarkedThreadEndpoint {
	/** Answers a request. */
	(context: ControllerContext): Response | Promise<Response>;
	/** The wrapped handler. */
	readonly [THREAD_ENDPOINT_SYMBOL]: ThreadEndpointHandler;
}

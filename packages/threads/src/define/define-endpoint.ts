// `defineThreadEndpoint` and `defineController`: validate endpoints of a project.
import { HoldfastError } from "@holdfast/upp";
import {
	type Controller,
	type ControllerContext,
	type MarkedThreadEndpoint,
	THREAD_ENDPOINT_SYMBOL,
	type ThreadEndpointHandler,
} from "../types/index.ts";
import { checkFunction } from "./check-fields.ts";

/**
 * Defines a controller: the default export of a file in `agents/api/` that answers requests without a thread.
 *
 * @throws HoldfastError `invalid_definition` if the value is not a function
 */
export function defineController(controller: Controller): Controller {
	checkFunction({ kind: "endpoint" }, "controller", controller);
	return controller;
}

/**
 * Defines an endpoint below a thread's ID: the default export of a file in `agents/api/`.
 *
 * @throws HoldfastError `invalid_definition` if the value is not a function; the returned endpoint throws
 * `thread_missing` if it is called without a thread
 */
export function defineThreadEndpoint(handler: ThreadEndpointHandler): MarkedThreadEndpoint {
	checkFunction({ kind: "endpoint" }, "handler", handler);
	const controller = ({ req, state, params }: ControllerContext): Response | Promise<Response> => {
		if (state === undefined)
			throw new HoldfastError(
				"thread_missing",
				"A thread endpoint was called without a thread. Mount it beneath a thread's ID.",
			);
		return handler(req, state, params);
	};
	return Object.freeze(Object.assign(controller, { [THREAD_ENDPOINT_SYMBOL]: handler } as const));
}

/** Whether a value was returned by {@link defineThreadEndpoint}. */
export function isThreadEndpoint(value: unknown): value is MarkedThreadEndpoint {
	if (typeof value !== "function") return false;
	return typeof (value as Partial<MarkedThreadEndpoint>)[THREAD_ENDPOINT_SYMBOL] === "function";
}

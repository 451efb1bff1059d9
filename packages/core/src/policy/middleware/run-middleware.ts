// The order of middlewares around one call: `before` as listed, then the call, then `after` in reverse; a failure asks
// `onError` in reverse until one gives a result, which goes on outwards like any other. Every function once at most.
import type { GenerateResult } from "../../state/index.ts";
import type { Middleware, MiddlewareContext } from "./middleware.ts";

/**
 * Runs a call with middlewares around it. Without any, `execute` is called at once.
 *
 * Rejects with what `execute`, a `before` or an `after` threw, unless an `onError` gave a result.
 *
 * @see UAP 9.2
 */
export function runMiddleware(
	list: readonly Middleware[],
	context: MiddlewareContext,
	execute: (context: MiddlewareContext) => Promise<GenerateResult>,
): Promise<GenerateResult> {
	return list.length === 0 ? execute(context) : runAround(list, context, execute);
}

async function runAround(
	list: readonly Middleware[],
	given: MiddlewareContext,
	execute: (context: MiddlewareContext) => Promise<GenerateResult>,
): Promise<GenerateResult> {
	let context = given;
	/** How many middlewares have let the call in, and not yet seen it come out. */
	let entered = 0;
	let result: GenerateResult;
	try {
		for (const middleware of list) {
			const returned = await middleware.before?.(context);
			if (returned) context = follow(context, returned);
			entered++;
		}
		result = await execute(context);
	} catch (error) {
		// Those that were not reached are asked as well: an error handler may stand anywhere in the list.
		const recovered = await recover(list, list.length, context, error);
		result = recovered.result;
		entered = Math.min(entered, recovered.at);
	}
	while (entered > 0) {
		entered--;
		const middleware = list[entered] as Middleware;
		try {
			result = (await middleware.after?.(context, result)) ?? result;
		} catch (error) {
			const recovered = await recover(list, entered, context, error);
			result = recovered.result;
			entered = recovered.at;
		}
	}
	return result;
}

/** The context a `before` returned. The metadata stays the one object that everybody shares. */
function follow(context: MiddlewareContext, returned: MiddlewareContext): MiddlewareContext {
	const { metadata } = context;
	if (returned.metadata !== undefined && returned.metadata !== metadata) {
		Object.assign(metadata, returned.metadata);
	}
	return { ...context, ...returned, metadata };
}

/** The first result that the middlewares before `end` have for an error, from the last to the first. */
async function recover(
	list: readonly Middleware[],
	end: number,
	context: MiddlewareContext,
	error: unknown,
): Promise<{ result: GenerateResult; at: number }> {
	const said = error instanceof Error ? error : new Error(String(error), { cause: error });
	for (let at = end - 1; at >= 0; at--) {
		try {
			const result = await list[at]?.onError?.(context, said);
			if (result) return { result, at };
		} catch {
			// What went wrong first is what the caller must hear of.
		}
	}
	throw error;
}

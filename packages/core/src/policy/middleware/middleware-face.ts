// A middleware: optional functions around a run of an agent. One form of policy entry.
import type { AgentState, GenerateResult } from "../../state/index.ts";
import type { Interceptor, Perhaps, Stages } from "../interceptor.ts";
import type { ChangedContext, PolicyAgent, PolicyRun, RunContext } from "../policy-run.ts";

/** The agent in the form that a middleware sees: the agent object itself. */
export type MiddlewareAgent = PolicyAgent;

/** A run before it reaches the agent. */
export type MiddlewareContext = RunContext;

/**
 * Functions around the runs of an agent: its calls, and the turns of its sessions. `before` is called in list order,
 * `after` and `onError` in reverse. A turn that is resumed after a crash does not call `before` again.
 */
export interface Middleware {
	/** The name shown to people. */
	readonly name: string;
	/**
	 * May return a changed context for later functions. An error fails the run. In a session, the model sees a changed
	 * input or state in this run, while this process drives it; the journal keeps the original messages.
	 */
	before?(context: MiddlewareContext): Perhaps<ChangedContext>;
	/**
	 * Its return value becomes the caller's result. In a session that is the value of `result()`; the journal keeps the
	 * original messages.
	 */
	after?(context: MiddlewareContext, result: GenerateResult): GenerateResult | Promise<GenerateResult>;
	/**
	 * Called if the run failed: in the agent, in a `before`, or in the `after` of a later middleware. A result returned
	 * here becomes the result of the run; otherwise the error propagates to the caller. An error thrown here is ignored.
	 */
	onError?(context: MiddlewareContext, error: Error): Perhaps<GenerateResult>;
	/** Called after every step with that step's state. `true` ends the run with its results so far. */
	stop?(context: MiddlewareContext, state: AgentState): boolean | Promise<boolean>;
}

/** The entries of the option `middleware`: middlewares, and interceptors for additional stages. */
export type MiddlewareEntry = Middleware | Interceptor;

/**
 * Returns an entry's stages for one run. If it is both a middleware and an interceptor, uses the stages that `begin`
 * returns, or the middleware functions if there are none.
 */
export function middlewareStages(entry: MiddlewareEntry, run: PolicyRun): Stages {
	const own = "begin" in entry ? entry.begin(run) : undefined;
	if (own !== undefined) return own;
	const { before, after, onError, stop } = entry as Middleware;
	return {
		...(before && { before: before.bind(entry) }),
		...(after && { after: after.bind(entry) }),
		...(onError && { onError: onError.bind(entry) }),
		...(stop && { stop: (state) => stop.call(entry, run.context, state) }),
	};
}

// A middleware: functions around a run of an agent, each of them optional. One form of the list of policy.
import type { AgentState, GenerateResult } from "../../state/index.ts";
import type { Interceptor, Perhaps, Stages } from "../interceptor.ts";
import type { ChangedContext, PolicyAgent, PolicyRun, RunContext } from "../policy-run.ts";

/** The agent as a middleware sees it; it is the agent itself. */
export type MiddlewareAgent = PolicyAgent;

/** One run on its way to the agent. */
export type MiddlewareContext = RunContext;

/**
 * Functions around the runs of an agent: its calls, and the turns of its sessions. `before` is called in the order of the
 * list, `after` and `onError` in reverse order. A turn that is resumed after a crash does not go through `before` again.
 */
export interface Middleware {
	/** Name for people. */
	readonly name: string;
	/**
	 * May return a changed context for later functions. An error fails the run. In a session, the model sees a changed
	 * input or state in this run, while this process drives it; the journal keeps the original messages.
	 */
	before?(context: MiddlewareContext): Perhaps<ChangedContext>;
	/**
	 * Its return value becomes the caller's result. In a session that is `result()`; the journal keeps the original
	 * messages.
	 */
	after?(context: MiddlewareContext, result: GenerateResult): GenerateResult | Promise<GenerateResult>;
	/**
	 * Called when the run failed: in the agent, in a `before`, or in the `after` of a later middleware. A result
	 * returned here becomes the result of the run; with nothing, the error continues to the caller. What it throws itself
	 * counts as nothing.
	 */
	onError?(context: MiddlewareContext, error: Error): Perhaps<GenerateResult>;
	/** Asked after every step, with that step's state; `true` ends the run with what it has. */
	stop?(context: MiddlewareContext, state: AgentState): boolean | Promise<boolean>;
}

/** The entries of the option `middleware`: middlewares, and interceptors for additional stages. */
export type MiddlewareEntry = Middleware | Interceptor;

/** An entry's stages for one run. One that is both does what its `begin` gives, and where that is nothing, the functions. */
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

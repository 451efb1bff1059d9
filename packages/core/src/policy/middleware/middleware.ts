// What a middleware is: functions around a call of an agent, each of them optional.
import type { Message } from "@holdfast/upp";
import type { AgentState, GenerateResult } from "../../state/index.ts";

/** The agent as a middleware sees it; it is the agent itself. */
export interface MiddlewareAgent {
	readonly id: string;
	readonly name?: string;
	readonly description?: string;
	readonly model?: unknown;
	readonly system?: string | undefined;
}

/** One call on its way to the agent. @see UAP 9.1 */
export interface MiddlewareContext {
	readonly agent: MiddlewareAgent;
	/** What the user says. */
	readonly input: Message;
	/** The state the call starts from; the input is not in it yet. */
	readonly state: AgentState;
	/** One object for all functions of all middlewares of a call, to be written to. New for every call. */
	readonly metadata: Record<string, unknown>;
}

/** A value or nothing, at once or later. A function that ends without a `return` gives nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: `undefined` alone would refuse functions without a `return`.
type Perhaps<Value> = Value | void | Promise<Value | void>;

/**
 * Something that stands around the calls of an agent. `before` is called in the order of the list, `after` and `onError`
 * in reverse order.
 *
 * @see UAP 9.1, 9.2
 */
export interface Middleware {
	/** Name for people. */
	readonly name: string;
	/** May return a changed context, which whatever comes later uses. One that throws fails the call. */
	before?(context: MiddlewareContext): Perhaps<MiddlewareContext>;
	/** What it returns is what the caller gets. */
	after?(context: MiddlewareContext, result: GenerateResult): GenerateResult | Promise<GenerateResult>;
	/**
	 * Called when the call failed: in the agent, in a `before`, or in the `after` of a later middleware. A result
	 * returned here becomes the result of the call; with nothing, the error goes on to the caller. What it throws itself
	 * counts as nothing.
	 */
	onError?(context: MiddlewareContext, error: Error): Perhaps<GenerateResult>;
	/** Asked after every step, with that step's state; `true` ends the call with what it has. */
	stop?(context: MiddlewareContext, state: AgentState): boolean | Promise<boolean>;
}

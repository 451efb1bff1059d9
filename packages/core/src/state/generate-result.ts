// The result of a call of an agent.
import type { StopReason, Turn } from "@holdfast/upp";
import type { AgentState } from "./agent-state.ts";

/** The result of `generate`: the turn, and the state after it. */
export interface GenerateResult<Output = unknown> {
	/** The answer, with the tool calls and the usage of the call. */
	readonly turn: Turn<Output>;
	/** The state after the call: pass it to the next one to continue the conversation. */
	readonly state: AgentState;
	/**
	 * Why the model stopped its last answer, as in `turn`. Absent if your own strategy or middleware created the result.
	 */
	readonly stopReason?: StopReason;
	/** The structured answer, if the agent has the option `output`: validated, with the defaults of its schema. */
	readonly output?: Output;
}

/** The result type of an agent that is known to have an output. */
export type ResultWith<Output> = unknown extends Output
	? GenerateResult
	: GenerateResult<Output> & { readonly output: Output };

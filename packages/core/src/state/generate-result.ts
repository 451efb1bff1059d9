// What a call of an agent gives back.
import type { Turn } from "@holdfast/upp";
import type { AgentState } from "./agent-state.ts";

/** What `generate` gives: the turn, and the state after it. @see UAP 4.4 */
export interface GenerateResult<Output = unknown> {
	readonly turn: Turn<Output>;
	readonly state: AgentState;
	/** What the answer says, of an agent with the option `output`: checked, with the defaults of its schema. */
	readonly output?: Output;
}

/** The result of an agent that is known to have an output. */
export type ResultWith<Output> = unknown extends Output
	? GenerateResult
	: GenerateResult<Output> & { readonly output: Output };

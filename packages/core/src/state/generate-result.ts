// What a call of an agent gives back.
import type { Turn } from "@holdfast/upp";
import type { AgentState } from "./agent-state.ts";

/** What `generate` gives: the turn, and the state after it. @see UAP 4.4 */
export interface GenerateResult {
	readonly turn: Turn;
	readonly state: AgentState;
}

// The changes that a note makes to the state, apart from the messages.
import {
	AgentState,
	type PlanStepChange,
	type SubagentExecutionTrace,
	withStepStatus,
} from "../state/index.ts";
import type { Noted } from "./fact.ts";
import type { LastFact } from "./run-state.ts";
import type { SessionState } from "./session-state.ts";

/** Topic of the notes with the outcome of a workflow's call. */
export const workflowSettled = "workflow-settled";

/** Topic of the notes with the state that a workflow publishes. */
export const workflowState = "workflow-state";
/** Key of that state in the metadata of the session's state. */
export const workflowStateKey = "workflow";

/** Whether the note is progress of the run: the crashes before it no longer count. */
export function isProgress({ topic, endsStep }: Noted): boolean {
	return endsStep === true || topic === workflowSettled;
}

/** Returns the note as deciders see it. */
export function lastOfNote({ topic, value, endsStep }: Noted): LastFact {
	const last: LastFact = { kind: "note", tag: topic, value };
	return endsStep === undefined ? last : { ...last, endsStep };
}

/** Returns the state after a note with one of the engine's own topics. Other topics change nothing. */
export function note(state: SessionState, topic: string, value: unknown): SessionState {
	switch (topic) {
		case "reasoning":
			return { ...state, agent: state.agent.withReasoning(String(value)) };
		case "plan":
			return { ...state, agent: state.agent.withPlan(value as Parameters<AgentState["withPlan"]>[0]) };
		case "plan-step": {
			const parts = AgentState.partsOf(state.agent);
			const plan = withStepStatus(parts.plan ?? [], value as PlanStepChange);
			return { ...state, agent: AgentState.ofParts({ ...parts, plan }) };
		}
		case "metadata": {
			const { key, value: inner } = value as { key: string; value: unknown };
			return { ...state, agent: state.agent.withMetadata(key, inner) };
		}
		case workflowState: {
			const { state: published } = value as { readonly state: unknown };
			return { ...state, agent: state.agent.withMetadata(workflowStateKey, published) };
		}
		case "subagent-trace":
			return { ...state, agent: state.agent.withSubagentTrace(value as SubagentExecutionTrace) };
		default:
			return state;
	}
}

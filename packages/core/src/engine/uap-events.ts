// The events of `agent.stream()` as a projection of the one event union.
import type { StreamEvent, TokenUsage, ToolCall } from "@holdfast/upp";
import { joinStreamEvents, type RunEvent } from "../facts/index.ts";
import { type PlanStep, type PlanStepChange, withStepStatus } from "../state/index.ts";
import type { KnownTool, KnownTools } from "../tools/index.ts";
import { isSubagentEvent } from "./subagent-events.ts";

/** Kinds of agent events. */
export type UAPEventType =
	| "step_start"
	| "step_end"
	| "reasoning"
	| "action"
	| "observation"
	| "subagent_start"
	| "subagent_event"
	| "subagent_end";

/** An event at agent level. */
export interface UAPEvent {
	/** The kind of event. */
	readonly type: UAPEventType;
	/** The number of the step within the run. */
	readonly step: number;
	readonly agentId: string;
	/** Depends on `type`: reasoning, calls, results, usage. */
	readonly data: Readonly<Record<string, unknown>>;
}

/** The results of a step, as contained in the event `observation`. */
export type ObservedResult<Tool extends KnownTool = KnownTool> = Tool extends KnownTool
	? {
			readonly toolCallId: string;
			readonly toolName: Tool["name"];
			/** Milliseconds. */
			readonly duration: number;
		} & (
			| { readonly isError: false; readonly result: Tool["output"] }
			| { readonly isError: true; readonly result: unknown }
		)
	: never;

/** Events of an agent whose tools have types. */
type TypedUAPEvent<Tool extends KnownTool> = string extends Tool["name"]
	? UAPEvent
	:
			| (UAPEvent & { readonly type: Exclude<UAPEventType, "observation"> })
			| (Omit<UAPEvent, "type" | "data"> & {
					readonly type: "observation";
					readonly data: { readonly results: readonly ObservedResult<Tool>[] };
			  });

/** One event of `agent.stream()`: either an agent event, or a model event as its provider sent it. */
export type AgentStreamEvent<Tools = unknown> =
	| { readonly source: "uap"; readonly uap: TypedUAPEvent<KnownTools<Tools>>; readonly upp?: never }
	| { readonly source: "upp"; readonly upp: StreamEvent; readonly uap?: never };

/** Projects run events, in order, and passes each event of `agent.stream()` to `push`. */
export function uapProjection(
	agentId: string,
	push: (event: AgentStreamEvent) => void,
): (event: RunEvent) => void {
	let results: {
		toolCallId: string;
		toolName: string;
		result: unknown;
		isError: boolean;
		duration: number;
		index: number;
	}[] = [];
	let plan: { readonly plan?: readonly PlanStep[] } = {};
	const emit = (type: UAPEventType, step: number, data: Readonly<Record<string, unknown>>): void =>
		push({ source: "uap", uap: { type, step, agentId, data } });
	return (event) => {
		switch (event.type) {
			case "model":
				push({ source: "upp", upp: event.event });
				return;
			case "step_start":
				results = [];
				emit("step_start", event.step, plan);
				return;
			case "note":
				if (event.topic === "reasoning") emit("reasoning", event.step, { reasoning: event.value });
				if (event.topic === "plan") plan = { plan: event.value as readonly PlanStep[] };
				if (event.topic === "plan-step")
					plan = { plan: withStepStatus(plan.plan ?? [], event.value as PlanStepChange) };
				return;
			case "nested":
				if (isSubagentEvent(event.event)) {
					const { type, ...data } = event.event;
					emit(type, event.step, data);
				}
				return;
			case "message":
				if (event.message.hasToolCalls)
					emit("action", event.step, { toolCalls: event.message.toolCalls as readonly ToolCall[] });
				return;
			case "tool_start":
				push(execution("tool_execution_start", event.index, event.call));
				return;
			case "tool_end":
				results.push({
					toolCallId: event.call.toolCallId,
					toolName: event.call.toolName,
					result: event.result,
					isError: event.outcome !== "done",
					duration: event.duration,
					index: event.index,
				});
				push(execution("tool_execution_end", event.index, event.call));
				return;
			case "step_end": {
				if (results.length > 0) {
					const inOrder = results.sort((a, b) => a.index - b.index).map(({ index: _, ...result }) => result);
					emit("observation", event.step, { results: inOrder });
					results = [];
				}
				emit("step_end", event.step, { usage: event.usage satisfies TokenUsage, ...plan });
				return;
			}
			case "run_start":
			case "input":
			case "history_cut":
			case "turn_start":
			case "model_start":
			case "model_retry":
			case "tool_delta":
			case "tools_pending":
			case "waiting":
			case "run_suspended":
			case "run_end":
				return;
			default:
				event satisfies never;
				return;
		}
	};
}

/** Joins two adjacent deltas of one content block, for a buffer at its limit. */
export function joinDeltas(last: AgentStreamEvent, next: AgentStreamEvent): AgentStreamEvent | undefined {
	if (last.source !== "upp" || next.source !== "upp") return undefined;
	const joined = joinStreamEvents(last.upp, next.upp);
	return joined === undefined ? undefined : { source: "upp", upp: joined };
}

function execution(
	type: "tool_execution_start" | "tool_execution_end",
	index: number,
	call: ToolCall,
): AgentStreamEvent {
	return {
		source: "upp",
		upp: { type, index, delta: { toolCallId: call.toolCallId, toolName: call.toolName } },
	};
}

// Converts a committed fact to events: a pure projection.
import type { Fact } from "holdfast/host";
import {
	type CallAnswer,
	changesOf,
	type PlanAnswer,
	type PlannedWrite,
	type ReflectAnswer,
	type RunnerEventType,
	topics,
} from "../contract/index.ts";

/** An event without its position. */
export interface EventData {
	readonly type: RunnerEventType;
	readonly data?: unknown;
}

/** The state of a run at the commit of a fact. */
export interface EventContext {
	readonly agentId: string;
	/** The current iteration, starting at 1. */
	readonly step: number;
	/** The tool of the iteration. */
	readonly toolId: string | undefined;
	/** Whether the current call is one of the memory. */
	readonly remembers: boolean;
}

/** Returns the events of a fact, in order; none for internal facts. */
export function eventOf(
	fact: Fact,
	{ agentId, step, toolId, remembers }: EventContext,
): readonly EventData[] {
	switch (fact.kind) {
		case "run.started":
			return [{ type: "run.start", data: { agentId } }];
		case "decision":
			return ofDecision(fact.topic, fact.answer, step);
		case "tool.settled": {
			const answer = fact.result as CallAnswer;
			const changes = (answer?.changes ?? []).map(
				(change): EventData => ({ type: "memory", data: { step, ...change } }),
			);
			if (remembers) return changes;
			const data = fact.outcome === "done" ? { ok: answer.ok, answer } : { ok: false, output: fact.result };
			return [...changes, { type: "tool.result", data: { step, toolId, ...data } }];
		}
		case "run.ended": {
			const { outcome, error } = fact;
			const about = error === undefined ? {} : { error: { code: error.code, message: error.message } };
			return [{ type: "run.end", data: { success: outcome === "completed", outcome, ...about } }];
		}
		default:
			return [];
	}
}

function ofDecision(topic: string, answer: unknown, step: number): readonly EventData[] {
	if (topic === topics.begin) return [{ type: "run.begin", data: answer }];
	if (topic === topics.plan) {
		const { step: planned, error, verdict } = answer as PlanAnswer;
		const stepped = verdict === undefined ? [] : [{ type: "policy", data: { step, ...verdict } } as const];
		return [{ type: "plan", data: { step, planned, ...(error === undefined ? {} : { error }) } }, ...stepped];
	}
	if (topic !== topics.reflect) return [];
	const { goalMet, note, error, writes, isKept } = answer as ReflectAnswer;
	const changes = isKept === true ? changesOf(writes) : [];
	return [
		{ type: "reflect", data: { step, goalMet: goalMet === true, note, error } },
		...changes.map((change): EventData => ({ type: "memory", data: { step, ...change } })),
	];
}

/** Returns the writes of a decision to the run's own memory. */
export function keptWrites({ topic, answer }: Extract<Fact, { kind: "decision" }>): readonly PlannedWrite[] {
	if (topic !== topics.reflect) return [];
	const { isKept, writes } = answer as ReflectAnswer;
	return isKept === true ? writes : [];
}

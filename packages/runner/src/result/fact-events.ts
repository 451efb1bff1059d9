// Converts the facts of a run to events, one after the other: a fold that tracks the iteration and the tool of each fact.
import type { Entry, Fact } from "holdfast/host";
import { memoryTool, type RunnerEventType, topics } from "../contract/index.ts";
import { type EventData, eventOf } from "./event-of.ts";

/** An event of a fact that was committed earlier. */
export interface PastEvent extends EventData {
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** Kinds of events that are derived from facts; all others come from the work between them. */
const ofFacts: ReadonlySet<RunnerEventType> = new Set<RunnerEventType>([
	...(["run.start", "run.begin", "plan", "policy", "tool.result", "reflect", "memory", "run.end"] as const),
]);

export class FactEvents {
	readonly #agentId: string;
	#step = 0;
	#toolId: string | undefined;

	constructor(agentId: string) {
		this.#agentId = agentId;
	}

	/** Number of planned iterations. */
	get step(): number {
		return this.#step;
	}

	/** Sets the iteration of the next plan, even if the facts before it were not seen. */
	plans(step: number): void {
		this.#step = step - 1;
	}

	/** Returns the events of the next fact, in order. */
	next(fact: Fact): readonly EventData[] {
		if (fact.kind === "decision" && fact.topic === topics.plan) {
			this.#step++;
			this.#toolId = (fact.answer as { step?: { toolId?: string } }).step?.toolId;
		}
		if (fact.kind === "tools.requested" && fact.calls[0]?.toolName === memoryTool) this.#toolId = memoryTool;
		return eventOf(fact, {
			agentId: this.#agentId,
			step: this.#step,
			toolId: this.#toolId,
			remembers: this.#toolId === memoryTool,
		});
	}
}

/** Returns the events of committed facts, and the fold after them. */
export function pastEvents(
	agentId: string,
	entries: readonly Entry[],
): { readonly facts: FactEvents; readonly events: readonly PastEvent[] } {
	const facts = new FactEvents(agentId);
	const events = entries.flatMap(({ at, fact }) => facts.next(fact).map((event) => ({ ...event, at })));
	return { facts, events };
}

/** Returns how many of these events are derived from facts. */
export function countOfFacts(events: readonly { readonly type: RunnerEventType }[]): number {
	return events.filter(({ type }) => ofFacts.has(type)).length;
}

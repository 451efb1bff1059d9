// Effects: what is done later, outside the conversation.
import type { infer as Infer } from "zod";
import type { ThreadState } from "./thread-state.ts";
import type { ToolArgs } from "./tool.ts";

/** The function of an effect. Its return value is not stored. */
export type Effect<State = ThreadState, Args extends ToolArgs | null = null> = [Args] extends [ToolArgs]
	? (state: State, args: Infer<Args>) => unknown
	: (state: State) => unknown;

/** A defined effect. Its name is that of its file. */
export interface EffectDefinition<State = ThreadState, Args extends ToolArgs | null = ToolArgs | null> {
	/** A description for people. */
	description: string;
	/** The schema of its arguments; null for none. */
	schema: Args;
	/** Does it, called with the state only where `schema` is null. */
	// biome-ignore lint/suspicious/noExplicitAny: the runtime calls it with what `schema` accepted
	handler: (state: State, args?: any) => unknown;
}

/** An effect that was scheduled. */
export interface ScheduledEffect {
	/** What `scheduleEffect` returned. */
	id: string;
	/** Name of the effect. */
	name: string;
	/** Its arguments. */
	args: Record<string, unknown>;
	/** When it is due: microseconds since 1970. */
	scheduledAt: number;
	/** When it was scheduled: microseconds since 1970. */
	createdAt: number;
	/** How far it is. */
	status: "pending" | "running" | "completed" | "failed" | "canceled";
	/** Why it failed. */
	error?: string;
}

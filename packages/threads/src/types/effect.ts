// Effects: work that runs later, outside the conversation.
import type { infer as Infer } from "zod";
import type { ThreadState } from "./thread-state.ts";
import type { ToolArgs } from "./tool.ts";

/** The function of an effect. Its return value is not stored. */
export type Effect<State = ThreadState, Args extends ToolArgs | null = null> = [Args] extends [ToolArgs]
	? (state: State, args: Infer<Args>) => unknown
	: (state: State) => unknown;

/** A defined effect. The file's name is the effect's name. */
export interface EffectDefinition<State = ThreadState, Args extends ToolArgs | null = ToolArgs | null> {
	/** A description for people. */
	description: string;
	/** The schema of its arguments; null if it takes none. */
	schema: Args;
	/** Runs the effect; called with only the state if `schema` is null. */
	// biome-ignore lint/suspicious/noExplicitAny: the runtime calls it with what `schema` accepted
	handler: (state: State, args?: any) => unknown;
}

/** A scheduled effect. */
export interface ScheduledEffect {
	/** The id that `scheduleEffect` returned. */
	id: string;
	/** Name of the effect. */
	name: string;
	/** Its arguments. */
	args: Record<string, unknown>;
	/** When it is due, in microseconds since 1970. */
	scheduledAt: number;
	/** When it was scheduled, in microseconds since 1970. */
	createdAt: number;
	/** Its current status. */
	status: "pending" | "running" | "completed" | "failed" | "canceled";
	/** The error, if it failed. */
	error?: string;
}

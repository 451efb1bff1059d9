// The record of an effect. A pending effect is only a timer of its thread. The worker that starts an effect, or the
// caller that cancels it, first writes the one record under its id. Only the first writer succeeds, so an effect starts
// at most once across any number of processes (keeps I3, I4).
//
//   pending (a timer) → running → completed | failed
//                     → canceled
//
// A `running` record of a dead worker belongs to an interrupted effect: its outcome is unknown, and it is not started
// again.
import type { RecordSpace, Timer, TimerStore } from "holdfast/host";
import type { ScheduledEffect } from "../types/index.ts";

/** The body of an effect's timer. */
export interface EffectBody {
	/** The qualified name of the effect. */
	readonly name: string;
	readonly args: Record<string, unknown>;
	/** When it was scheduled, in milliseconds since the epoch. */
	readonly createdAt: number;
	/** When it is due, in milliseconds since the epoch. */
	readonly dueAt: number;
}

/** The record of an effect. */
export interface EffectRecord extends EffectBody {
	readonly status: "running" | "completed" | "failed" | "canceled";
	/** The worker that started it. */
	readonly worker?: string;
	/** The error, if it failed. */
	readonly error?: string;
}

/** The storage of effects. */
export interface EffectStore {
	readonly timers: TimerStore;
	readonly records: RecordSpace;
}

const prefix = "effect ";

/** Returns the shelf of the records of a thread. */
export function shelfOf(storeKey: string): string {
	return `thread-effects ${storeKey}`;
}

/** Returns the name of an effect's timer. */
export function timerName(id: string): string {
	return prefix + id;
}

/** Returns the id of the effect that a timer belongs to; undefined for other timers. */
export function effectId({ name }: Pick<Timer, "name">): string | undefined {
	return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Writes the first record of an effect; returns false if there is one already. */
export async function writeFirst(
	records: RecordSpace,
	storeKey: string,
	id: string,
	record: EffectRecord,
): Promise<boolean> {
	const address = { shelf: shelfOf(storeKey), name: id };
	return await records.commit([{ ...address, revision: 0 }], [{ ...address, value: record }]);
}

/** Returns an effect in the form that a thread lists. */
export function scheduled(
	id: string,
	{ name, args, createdAt, dueAt }: EffectBody,
	status: ScheduledEffect["status"],
	error?: string,
): ScheduledEffect {
	return {
		id,
		name,
		args,
		scheduledAt: Math.round(dueAt * 1_000),
		createdAt: Math.round(createdAt * 1_000),
		status,
		...(error === undefined ? {} : { error }),
	};
}

// Time, timers and ids as ports: the engine reads neither from the world itself (keeps I6).
import { uuid } from "@holdfast/upp";

/** Where time comes from. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Milliseconds that never go backwards, for durations. */
	monotonic(): number;
}

/** Where ids come from. */
export interface Ids {
	/** A new UUIDv4. */
	uuid(): string;
}

/** Where waiting for a time comes from. */
export interface Timers {
	/** Calls `wake` once, so many milliseconds from now. Returns the way to call it off; harmless afterwards. */
	after(milliseconds: number, wake: () => void): () => void;
}

export interface Ports {
	readonly clock: Clock;
	readonly ids: Ids;
	readonly timers: Timers;
}

export const systemPorts: Ports = {
	clock: { now: () => Date.now(), monotonic: () => performance.now() },
	ids: { uuid },
	timers: {
		after(milliseconds, wake) {
			const timer = setTimeout(wake, milliseconds);
			return () => clearTimeout(timer);
		},
	},
};

// Time that advances only when a test advances it.
import type { Ports } from "holdfast/host";

/** A clock and its timers, for the option `ports` of an agent. */
export interface ManualTime {
	/** Pass it as the option `ports`. */
	readonly ports: Pick<Ports, "clock" | "timers">;
	/** Pending timers, each with the time at which it fires. */
	readonly timers: ReadonlySet<{ readonly at: number }>;
	/** Advances the time; due timers fire before it returns. */
	pass(milliseconds: number): void;
}

/**
 * Creates a clock that advances only when `pass` is called, so that a test never waits in real time.
 * @example
 * import { manualTime } from "@holdfast/testing";
 *
 * const time = manualTime();
 * time.ports.timers.after(1_000, () => console.log("a second later"));
 * time.pass(1_000);
 */
export function manualTime(): ManualTime {
	let now = 1_000_000;
	const timers = new Set<{ readonly at: number; wake(): void }>();
	return {
		ports: {
			clock: { now: () => now, monotonic: () => now },
			timers: {
				after(milliseconds: number, wake: () => void) {
					const timer = { at: now + milliseconds, wake };
					timers.add(timer);
					return () => timers.delete(timer);
				},
			},
		},
		timers,
		pass(milliseconds: number) {
			now += milliseconds;
			for (const timer of [...timers].filter(({ at }) => at <= now)) {
				timers.delete(timer);
				timer.wake();
			}
		},
	};
}

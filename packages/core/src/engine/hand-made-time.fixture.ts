// Time that passes when a test says so.
import type { Ports } from "../host/ports.ts";

/** A clock and timers that go on when they are told to. */
export function handMade(): {
	readonly ports: Pick<Ports, "clock" | "timers">;
	/** Those that wait. */
	readonly timers: ReadonlySet<{ readonly at: number }>;
	pass(milliseconds: number): void;
} {
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

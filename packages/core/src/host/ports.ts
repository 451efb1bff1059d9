// Time, timers, ids and the event loop as ports: the engine never accesses them directly (keeps I6).
import { startTimer, uuid } from "@holdfast/upp";
import { type Lifetime, systemLifetime } from "./lifetime.ts";

/** A clock. */
export interface Clock {
	/** Returns milliseconds since the epoch. */
	now(): number;
	/** Returns milliseconds that never decrease, for durations. */
	monotonic(): number;
}

/** Generates ids. */
export interface Ids {
	/** Returns a new UUIDv4. */
	uuid(): string;
}

/** Starts delays. */
export interface Timers {
	/**
	 * Calls `wake` once, after the given number of milliseconds. Returns a function that cancels it and has no effect
	 * afterwards.
	 */
	after(milliseconds: number, wake: () => void): () => void;
}

/** Yields to the other work of the process: timers, input and output. */
export interface EventLoop {
	/** Calls `passed` once, after one turn of the event loop, and keeps the process alive until then. */
	nextTurn(passed: () => void): void;
	/** Like `nextTurn`, but does not keep the process alive. */
	whenTurned(passed: () => void): void;
}

/** The services that the runtime uses: clock, ids, timers, event loop, the end of the process. */
export interface Ports {
	/** The time. Default: the system's. */
	readonly clock: Clock;
	/** Generates ids. Default: random UUIDs. */
	readonly ids: Ids;
	/** Starts delays. Default: the system's. */
	readonly timers: Timers;
	/** Lets other work of the process proceed. Default: the system's. */
	readonly eventLoop: EventLoop;
	/** Reports the end of the process. Default: the system's. */
	readonly lifetime: Lifetime;
}

/** The system's ports: the default. */
export const systemPorts: Ports = {
	clock: { now: () => Date.now(), monotonic: () => performance.now() },
	ids: { uuid },
	timers: { after: (milliseconds, wake) => startTimer(milliseconds, wake) },
	eventLoop: {
		nextTurn: (passed) => void soon(passed),
		whenTurned: (passed) => soon(passed)?.unref?.(),
	},
	lifetime: systemLifetime,
};

interface Immediate {
	unref?(): void;
}
type Soon = (passed: () => void) => Immediate | undefined;

/** The fastest way to wait for a turn of the event loop on this platform, determined on first use. */
let soon: Soon = (passed) => {
	soon = quickest();
	return soon(passed);
};

/** `setTimeout` is the last choice: repeated calls wait for milliseconds. */
function quickest(): Soon {
	const { setImmediate, MessageChannel } = globalThis as Partial<typeof globalThis>;
	if (setImmediate !== undefined) return (passed) => setImmediate(passed);
	if (MessageChannel === undefined) return (passed) => void setTimeout(passed, 0);
	const { port1, port2 } = new MessageChannel();
	const queue: (() => void)[] = [];
	port1.onmessage = () => queue.shift()?.();
	return (passed) => {
		queue.push(passed);
		port2.postMessage(null);
		return undefined;
	};
}

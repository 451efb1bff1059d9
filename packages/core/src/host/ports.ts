// Time, timers, ids and the event loop as ports: the engine reads none of them from the world itself (keeps I6).
import { startTimer, uuid } from "@holdfast/upp";
import { type Lifetime, systemLifetime } from "./lifetime.ts";

/** The source of time. */
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

/** The source of delays. */
export interface Timers {
	/**
	 * Calls `wake` once, after the given number of milliseconds. Returns a function that cancels it; harmless afterwards.
	 */
	after(milliseconds: number, wake: () => void): () => void;
}

/** The other work of the process: timers, input and output. */
export interface EventLoop {
	/** Calls `passed` once, when it has been through that, and keeps the process alive until then. */
	nextTurn(passed: () => void): void;
	/** The same, but a process with nothing else to do may end before. */
	whenTurned(passed: () => void): void;
}

/** The services that the runtime uses: clock, ids, timers, event loop, the end of the process. */
export interface Ports {
	readonly clock: Clock;
	readonly ids: Ids;
	readonly timers: Timers;
	readonly eventLoop: EventLoop;
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

/** The fastest turn of the event loop on the platform, determined on first use. */
let soon: Soon = (passed) => {
	soon = quickest();
	return soon(passed);
};

/** `setTimeout` is the last choice: asked for again and again, it waits for milliseconds. */
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

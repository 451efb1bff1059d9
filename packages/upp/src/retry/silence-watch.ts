// One timer for all answers that may be silent for long: a timer for each would cost more than the rest of a call. Asleep
// (no timer) → awake (checks every second) → asleep, once there is nothing to check.
import { startTimer } from "../time/index.ts";

const periodMs = 1000;

/** Something that may be silent for a long time. */
export interface Silent {
	/** Its index among the watched objects; negative if it is not watched. Only this file's functions set it. */
	place: number;
	/** Called about once a second, with the time of `performance.now()`. */
	look(now: number): void;
}

const watched: Silent[] = [];
/** The platform's timers at the time it became active, which tests replace; undefined while it is idle. */
let timers: typeof setTimeout | undefined;

/**
 * Whether calls of several requests may share one timer. On platforms that end a request's timers with the request, and
 * in browsers, each call has its own.
 */
export const sharesTimer: boolean = isServer();

/** Watches an object until `unwatch`. */
export function watch(silent: Silent): void {
	silent.place = watched.push(silent) - 1;
	if (timers !== globalThis.setTimeout) wake();
}

/** Has no effect if the object is not watched. */
export function unwatch(silent: Silent): void {
	const { place } = silent;
	if (place < 0) return;
	silent.place = -1;
	const last = watched.pop() as Silent;
	if (last === silent) return;
	watched[place] = last;
	last.place = place;
}

function wake(): void {
	const mine = globalThis.setTimeout;
	timers = mine;
	const look = (): void => {
		if (timers !== mine) return;
		timers = undefined;
		const now = performance.now();
		// From the end, because a removed entry is replaced only by one that was already checked.
		for (let place = watched.length - 1; place >= 0; place--) watched[place]?.look(now);
		if (watched.length > 0 && timers === undefined) wake();
	};
	startTimer(periodMs, look, { process: "release" });
}

/** Node, Bun and Deno. Node has no `navigator` before version 21. */
function isServer(): boolean {
	const { navigator, process } = globalThis as {
		navigator?: { userAgent?: string };
		process?: { versions?: { node?: string } };
	};
	const isNode = process?.versions?.node !== undefined;
	return isNode && (navigator === undefined || /^(?:Node\.js|Bun|Deno)\//.test(navigator.userAgent ?? ""));
}

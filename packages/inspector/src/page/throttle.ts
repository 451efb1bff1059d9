// Runs a function one call at a time and at limited intervals, however often it is requested. The last request is never
// lost: a request during a run or a pause is run afterwards.
//
// idle: the next request runs at once. running, resting: the next request is kept. stopped: requests are ignored.

/** Sets a timer; returns a function that clears it. */
export type SetTimer = (ms: number, then: () => void) => () => void;

const systemTimer: SetTimer = (ms, then) => {
	const timer = setTimeout(then, ms);
	return () => clearTimeout(timer);
};

/** Returns a function that requests a run, and one that ends all. `restMs`: the least time between two runs. */
export function throttled(
	run: () => Promise<unknown>,
	restMs: number,
	setTimer: SetTimer = systemTimer,
): { readonly request: () => void; readonly stop: () => void } {
	let state: "idle" | "running" | "resting" | "stopped" = "idle";
	let isWanted = false;
	let clear = (): void => {};
	const start = (): void => {
		state = "running";
		isWanted = false;
		void run().then(rest, rest);
	};
	const rest = (): void => {
		if (state === "stopped") return;
		state = "resting";
		clear = setTimer(restMs, () => {
			state = "idle";
			if (isWanted) start();
		});
	};
	return {
		request() {
			if (state === "idle") start();
			else isWanted = true;
		},
		stop() {
			state = "stopped";
			clear();
		},
	};
}

// The entry point of durations and timers.

export { type DurationRange, durationFault, longestForeignWait, readDuration } from "./duration.ts";
export { delay, startTimer, type TimerOptions, timeoutSignal } from "./timer.ts";

// The measurements of a row and their output: repetitions, medians, p99, CPU time next to wall time.

/** A bound that was set before measuring. */
export interface Target {
	readonly is: "at most" | "at least";
	readonly value: number;
}

/** One line of the table. */
export interface Measurement {
	readonly what: string;
	/** Of `median`, `p99` and `target`. */
	readonly unit: string;
	readonly median: number;
	readonly p99?: number;
	/** Microseconds of CPU time, all threads, for one of what is counted. */
	readonly cpu?: number;
	readonly target?: Target;
	/** A remark for readers. */
	readonly note?: string;
}

/** A row that was measured, or why it was not. */
export type RowResult =
	| { readonly row: string; readonly measurements: readonly Measurement[] }
	| { readonly row: string; readonly failed: string };

/** The machine of a measurement. */
export interface Machine {
	readonly date: string;
	readonly node: string;
	readonly platform: string;
	readonly cores: number;
	readonly processor: string;
	/** Processes that wanted a core in the minute before: what else the machine was doing. */
	readonly loadBefore: number;
}

/** How thorough a row is. */
export interface Effort {
	readonly quick: boolean;
	/** `full` repetitions, or a fifth of them, at least three, in a quick pass. */
	repetitions(full: number): number;
	/** A size, or a smaller one in a quick pass. */
	size(full: number, quick: number): number;
}

/** The effort this row was started with. */
export const effort: Effort = makeEffort(process.argv.includes("--quick"));

/** Reports to the table what was measured. A row calls it once, at its end. */
export function report(measurements: readonly Measurement[]): void {
	process.stdout.write(`${JSON.stringify(measurements)}\n`);
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
	const sorted = [...numbers].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	if (sorted.length === 0) throw new Error("There is no median of nothing: a row measured no repetition.");
	const upper = sorted[middle] as number;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The 99th percentile; the maximum of fewer than 100 numbers. */
export function p99(numbers: readonly number[]): number {
	const sorted = [...numbers].sort((a, b) => a - b);
	return sorted[Math.ceil(sorted.length * 0.99) - 1] as number;
}

export function mean(numbers: readonly number[]): number {
	return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** The gaps between points in time. */
export function gaps(times: readonly number[]): readonly number[] {
	return times.slice(1).map((time, at) => time - (times[at] as number));
}

/** Wall and CPU time of something. */
export interface Spent<T> {
	/** Microseconds. */
	readonly wall: number;
	/** Microseconds of this process, all threads. */
	readonly cpu: number;
	readonly result: T;
}

/** Takes the time of something. */
export async function spend<T>(work: () => T | Promise<T>): Promise<Spent<T>> {
	const before = process.cpuUsage();
	const started = performance.now();
	const result = await work();
	const wall = (performance.now() - started) * 1000;
	const { user, system } = process.cpuUsage(before);
	return { wall, cpu: user + system, result };
}

/**
 * Collects garbage, so that what is left can be weighed. Not for rows that take time: a forced collection throws
 * compiled code away, and what comes after it runs at half its speed.
 */
export function collector(): () => void {
	const { gc } = globalThis;
	if (gc === undefined) throw new Error("This row needs node --expose-gc.");
	// The flavor that gives free pages back, too: else resident memory is what was needed once.
	return () => void gc({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Fails the row when what was run did not do what is being timed. */
export function mustBe<T>(what: string, found: T, expected: T): void {
	if (found !== expected)
		throw new Error(`${what} is ${String(found)} where ${String(expected)} was expected.`);
}

function makeEffort(quick: boolean): Effort {
	return {
		quick,
		repetitions: (full) => (quick ? Math.max(3, Math.ceil(full / 5)) : full),
		size: (full, small) => (quick ? small : full),
	};
}

// Judges whether work takes time in proportion to its size. Other programs on the machine must not change the verdict, so it
// counts processor time, takes the least of several runs, and repeats a comparison that fails.
import { expect } from "vitest";

/** Work of some size, prepared: only its call is measured. */
export type Work = () => unknown;

/** How often the smaller size is doubled. The more often, the farther linear work is from a square. */
const doublings = 4;

/**
 * How many times as long work of twice the size may take. Linear work takes a little more than twice as long, and nearly three
 * times where it outgrows the caches that busy programs share. Work that grows with the square takes four times as long.
 */
const mostPerDoubling = 3.2;

/** Comparisons: one that stays within the limit is enough. Work that grows too fast exceeds the limit in each of them. */
const rounds = 5;

/** Runs of each size in a comparison, by turns, so that a busy moment slows both sizes. */
const runs = 3;

/** Runs of the smaller size for each of the larger: they are short, and one that is disturbed would hide a square. */
const smallRuns = 3;

/** Milliseconds of processor time below which the clock says little. */
const least = 0.05;

/** Milliseconds of processor time that some work takes. */
export async function costOf(work: Work): Promise<number> {
	// `threadCpuUsage` is not used: Linux brings its times up to date only every few milliseconds.
	const from = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(from);
	return (user + system) / 1_000;
}

/**
 * Fails when work of this size takes too many times as long as work of a sixteenth of it, and of a quarter: work that grows
 * with the square exceeds both limits, and memory that is slow to get from a busy system shows between two sizes only.
 * `workOf` prepares work of a size. It is called for each run, so that work may use up what it is given.
 */
export async function expectProportion(
	size: number,
	workOf: (size: number) => Work | Promise<Work>,
): Promise<void> {
	const small = Math.round(size / 2 ** doublings);
	const medium = Math.round(size / 2 ** (doublings / 2));
	const seen: string[] = [];
	// The first run compiles.
	await costOf(await workOf(small));
	for (let round = 0; round < rounds; round++) {
		let [few, some, many] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
		for (let run = 0; run < runs; run++) {
			for (let again = 0; again < smallRuns; again++) few = Math.min(few, await costOf(await workOf(small)));
			some = Math.min(some, await costOf(await workOf(medium)));
			many = Math.min(many, await costOf(await workOf(size)));
		}
		const isWithin = (part: number, times: number): boolean =>
			many <= mostPerDoubling ** times * Math.max(part, least);
		if (isWithin(few, doublings) || isWithin(some, doublings / 2)) return;
		seen.push(`${few.toFixed(2)}, ${some.toFixed(2)} and ${many.toFixed(2)} ms`);
	}
	expect.fail(
		`Sizes ${small}, ${medium} and ${size} take ${seen.join("; ")}: each doubling takes more than ${mostPerDoubling} times as long.`,
	);
}

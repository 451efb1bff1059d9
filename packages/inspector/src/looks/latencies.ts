// Latencies as counts per range of a logarithmic scale: they are added across sessions and stay small, and a quantile of them
// is within 8 % of the true one (keeps I5 and I7).

/** Number of latencies by the index of their range. */
export type Latencies = Readonly<Record<number, number>>;

/** The ratio of the ends of a range. */
const ratio = Math.log(1.15);

/** Returns the latencies with one more, in milliseconds. */
export function addLatency(latencies: Latencies, ms: number): Latencies {
	const index = Math.round(Math.log(Math.max(1, ms)) / ratio);
	return { ...latencies, [index]: (latencies[index] ?? 0) + 1 };
}

/** Adds two. */
export function joinLatencies(left: Latencies, right: Latencies): Latencies {
	const sum: Record<number, number> = { ...left };
	for (const [index, count] of Object.entries(right)) sum[Number(index)] = (sum[Number(index)] ?? 0) + count;
	return sum;
}

/** Returns the latency in milliseconds that a share of all latencies does not exceed; undefined if there are none. */
export function quantile(latencies: Latencies, share: number): number | undefined {
	const ranges = Object.entries(latencies).map(([index, count]) => [Number(index), count] as const);
	ranges.sort(([left], [right]) => left - right);
	const total = ranges.reduce((sum, [, count]) => sum + count, 0);
	let left = Math.ceil(total * share);
	for (const [index, count] of ranges) {
		left -= count;
		if (left <= 0) return Math.round(Math.exp(index * ratio));
	}
	return undefined;
}

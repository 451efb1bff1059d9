// Charts of the activity over time, with axes, a legend, and the same numbers as a table.
import type { JSX } from "preact";
import type { ShownEntry, UsageBucket, UsageLatency } from "../wire/index.ts";
import { Chart } from "./chart.tsx";
import { formatCost, formatCount, formatDuration } from "./format.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

/** Draws the charts of usage buckets. */
export function UsageCharts(props: {
	readonly buckets: readonly UsageBucket[];
	/** Of each bucket; absent if only the slowest answer is known. */
	readonly latencies?: readonly UsageLatency[] | undefined;
}): JSX.Element {
	const { buckets, latencies } = props;
	const points = (of: (bucket: UsageBucket, index: number) => readonly (number | undefined)[]) =>
		buckets.map((bucket, index) => ({ at: bucket.at, values: of(bucket, index) }));
	return (
		<div class="charts">
			<Chart
				title="Tokens"
				names={["input", "from the cache", "output"]}
				format={formatCount}
				points={points(({ inputTokens, outputTokens, cachedTokens }) => [
					Math.max(0, inputTokens - cachedTokens),
					cachedTokens,
					outputTokens,
				])}
			/>
			<Chart title="Cost" names={["cost"]} format={formatCost} points={points(({ cost }) => [cost])} />
			<Chart
				title="Errors"
				names={["errors"]}
				format={formatCount}
				points={points(({ errors }) => [errors])}
				isBad
			/>
			{latencies === undefined ? (
				<Chart
					title="Slowest answer"
					names={["latency"]}
					format={formatDuration}
					points={points(({ slowestMs }) => [slowestMs])}
				/>
			) : (
				<Chart
					title="Latency of answers"
					names={["p50", "p95"]}
					format={formatDuration}
					points={points((_, index) => [latencies[index]?.p50, latencies[index]?.p95])}
					as="lines"
				/>
			)}
		</div>
	);
}

const parts = 60;

export function SessionCharts({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	return (
		<Scrolls class="scrolls" label="Charts">
			<UsageCharts buckets={bucketsOf(store.entries)} />
		</Scrolls>
	);
}

/** Divides the activity of a session into sixty equal intervals. */
export function bucketsOf(entries: readonly ShownEntry[]): readonly UsageBucket[] {
	const begin = entries[0]?.at ?? 0;
	const end = entries.at(-1)?.at ?? begin;
	const wide = Math.max(1, Math.ceil((end - begin + 1) / parts));
	const buckets = Array.from({ length: parts }, (_, index) => ({
		at: begin + index * wide,
		answers: 0,
		toolCalls: 0,
		inputTokens: 0,
		outputTokens: 0,
		cachedTokens: 0,
		cost: 0,
		unpriced: 0,
		errors: 0,
		modelMs: 0,
		slowestMs: 0,
	}));
	for (const { at, kind, body } of entries) {
		const bucket = buckets[Math.min(parts - 1, Math.max(0, Math.floor((at - begin) / wide)))];
		if (bucket === undefined) continue;
		if (kind === "assistant") {
			const usage = (body.usage ?? {}) as Record<string, number>;
			const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0 } = usage;
			bucket.answers++;
			bucket.cachedTokens += cacheReadTokens;
			bucket.inputTokens += inputTokens;
			bucket.outputTokens += outputTokens;
			if (typeof body.cost === "number") bucket.cost += body.cost;
			else bucket.unpriced++;
			bucket.modelMs += Number(body.duration);
			bucket.slowestMs = Math.max(bucket.slowestMs, Number(body.duration));
		}
		if (kind === "tool.settled") {
			bucket.toolCalls++;
			if (body.outcome === "error" || body.outcome === "unknown") bucket.errors++;
		}
		if (kind === "run.ended" && body.outcome === "error") bucket.errors++;
	}
	return buckets;
}

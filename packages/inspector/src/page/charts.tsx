// Charts: bars over time, each with the same numbers as a table.
import type { JSX } from "preact";
import type { ShownEntry, UsageBucket } from "../wire/index.ts";
import { formatCost, formatCount, formatDuration, formatTime } from "./format.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

/** A bar. */
interface Bar {
	readonly label: string;
	/** Its parts, from bottom to top. */
	readonly parts: readonly number[];
}

interface ChartProps {
	readonly title: string;
	readonly bars: readonly Bar[];
	/** Names of the parts. */
	readonly names: readonly string[];
	readonly format: (value: number) => string;
}

const width = 600;
const height = 120;

function Chart({ title, bars, names, format }: ChartProps): JSX.Element {
	const sums = bars.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0));
	const most = Math.max(...sums, 0);
	const total = sums.reduce((sum, each) => sum + each, 0);
	const step = width / Math.max(1, bars.length);
	return (
		<figure class="chart">
			<figcaption>
				{title} <span class="quiet">at most {format(most)}</span>
			</figcaption>
			<svg
				viewBox={`0 0 ${width} ${height}`}
				preserveAspectRatio="none"
				role="img"
				aria-label={`${title}: ${format(total)} in all`}
			>
				{bars.map(({ label, parts }, index) => {
					let y = height;
					return parts.map((part, which) => {
						const tall = most === 0 ? 0 : (part / most) * (height - 4);
						y -= tall;
						return (
							<rect
								key={`${index} ${which}`}
								class={`part-${which}`}
								x={index * step}
								y={y}
								width={Math.max(1, step - 1)}
								height={tall}
							>
								<title>{`${label}: ${names[which]} ${format(part)}`}</title>
							</rect>
						);
					});
				})}
			</svg>
			<details>
				<summary>{title} as a table</summary>
				<Scrolls class="table" label={`${title} as a table`}>
					<table>
						<thead>
							<tr>
								<th>time</th>
								{names.map((name) => (
									<th key={name}>{name}</th>
								))}
							</tr>
						</thead>
						<tbody>
							{bars.map(({ label, parts }, index) =>
								sums[index] === 0 ? null : (
									<tr key={index}>
										<td>{label}</td>
										{parts.map((part, which) => (
											<td key={which}>{format(part)}</td>
										))}
									</tr>
								),
							)}
						</tbody>
					</table>
				</Scrolls>
			</details>
		</figure>
	);
}

/** Draws the four charts of usage buckets. */
export function UsageCharts({ buckets }: { readonly buckets: readonly UsageBucket[] }): JSX.Element {
	const bars = (of: (bucket: UsageBucket) => readonly number[]): readonly Bar[] =>
		buckets.map((bucket) => ({ label: formatTime(bucket.at), parts: of(bucket) }));
	return (
		<div class="charts">
			<Chart
				title="Tokens"
				names={["input", "output"]}
				format={formatCount}
				bars={bars(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])}
			/>
			<Chart title="Cost" names={["cost"]} format={formatCost} bars={bars(({ cost }) => [cost])} />
			<Chart title="Errors" names={["errors"]} format={formatCount} bars={bars(({ errors }) => [errors])} />
			<Chart
				title="Slowest answer"
				names={["latency"]}
				format={formatDuration}
				bars={bars(({ slowestMs }) => [slowestMs])}
			/>
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

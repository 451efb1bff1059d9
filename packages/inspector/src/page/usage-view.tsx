// Tokens, cost, errors and latency of all sessions over time.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { UsageBucket } from "../wire/index.ts";
import { UsageCharts } from "./charts.tsx";
import { useAnswer } from "./entry-details.tsx";
import { formatCount, formatPrice, formatShare } from "./format.ts";
import { ModelsTable } from "./models-table.tsx";
import { Figure } from "./parts.tsx";
import { onChanges } from "./sessions-store.ts";

const ranges: readonly (readonly [minutes: number, name: string])[] = [
	[60, "the last hour"],
	[360, "six hours"],
	[1_440, "a day"],
	[10_080, "a week"],
	[43_200, "thirty days"],
];

interface Usage {
	readonly buckets: readonly UsageBucket[];
	readonly sessions: number;
}

export function UsageView(): JSX.Element {
	const [minutes, setMinutes] = useState(60);
	const [look, setLook] = useState(0);
	const [last, setLast] = useState<Usage | undefined>(undefined);
	useEffect(() => onChanges(() => setLook((count) => count + 1)), []);
	const { value, problem } = useAnswer<Usage>(`/api/inspect/usage?minutes=${minutes}&look=${look}`);
	useEffect(() => {
		if (value !== undefined) setLast(value);
	}, [value]);
	const sum = (of: keyof UsageBucket): number =>
		(last?.buckets ?? []).reduce((total, bucket) => total + bucket[of], 0);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
		<main class="usage scrolls" tabIndex={0}>
			<h1>Usage</h1>
			<label>
				In{" "}
				<select value={minutes} onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}>
					{ranges.map(([value, name]) => (
						<option key={value} value={value}>
							{name}
						</option>
					))}
				</select>
			</label>
			{problem === undefined ? null : <p class="notice is-error">{problem}</p>}
			{last === undefined ? (
				<p class="empty">Reading…</p>
			) : (
				<>
					<dl class="figures">
						<Figure name="sessions">{formatCount(last.sessions)}</Figure>
						<Figure name="tokens">{formatCount(sum("inputTokens") + sum("outputTokens"))}</Figure>
						<Figure name="input from the cache">
							{formatShare(sum("cachedTokens"), sum("inputTokens"))}
						</Figure>
						<Figure name="cost">{formatPrice(sum("cost"), sum("unpriced"))}</Figure>
						<Figure name="answers">{formatCount(sum("answers"))}</Figure>
						<Figure name="tool calls">{formatCount(sum("toolCalls"))}</Figure>
						<Figure name="errors">{formatCount(sum("errors"))}</Figure>
					</dl>
					<UsageCharts buckets={last.buckets} />
					<ModelsTable />
				</>
			)}
		</main>
	);
}

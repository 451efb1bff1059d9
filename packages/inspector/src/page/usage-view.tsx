// The overview: tokens, cost, latency, errors and cache of all sessions over time, by agent, model, tool and day.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { UsageBucket, UsageGroup, UsageLatency } from "../wire/index.ts";
import { ask, isOver } from "./api.ts";
import { UsageCharts } from "./charts.tsx";
import { Command } from "./copy.tsx";
import { formatCost, formatCount, formatShare } from "./format.ts";
import { ModelsTable } from "./models-table.tsx";
import { Figure } from "./parts.tsx";
import { allSessions, choices, onChanges } from "./sessions-store.ts";
import { throttled } from "./throttle.ts";
import { UsageGroups } from "./usage-groups.tsx";

const ranges: readonly (readonly [minutes: number, name: string])[] = [
	[60, "the last hour"],
	[360, "six hours"],
	[1_440, "a day"],
	[10_080, "a week"],
	[43_200, "thirty days"],
];

interface Usage {
	readonly buckets: readonly UsageBucket[];
	readonly latencies: readonly UsageLatency[];
	readonly groups: readonly UsageGroup[];
	readonly sessions: number;
}

/** Milliseconds between two requests while sessions change constantly. */
const apartMs = 1_000;

const waitingStatuses: ReadonlySet<string> = new Set(["waiting", "parked", "interrupted"]);

export function UsageView(): JSX.Element {
	const [minutes, setMinutes] = useState(1_440);
	const [last, setLast] = useState<Usage | undefined>(undefined);
	const [problem, setProblem] = useState<string | undefined>(undefined);
	useEffect(() => {
		const ending = new AbortController();
		const { request, stop } = throttled(async () => {
			try {
				setLast(await ask<Usage>(`/api/inspect/usage?minutes=${minutes}`, ending.signal));
				setProblem(undefined);
			} catch (error) {
				if (!isOver(error)) setProblem((error as Error).message);
			}
		}, apartMs);
		request();
		const unsubscribe = onChanges(request);
		return () => {
			unsubscribe();
			stop();
			ending.abort();
		};
	}, [minutes]);
	const sum = (of: keyof UsageBucket): number =>
		(last?.buckets ?? []).reduce((total, bucket) => total + bucket[of], 0);
	// Reading the signal renders this again when the list of sessions changes.
	void choices.value;
	const waiting = allSessions().filter(({ status }) => waitingStatuses.has(status));
	const failed = allSessions().filter(({ status }) => status === "error").length;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
		<main class="usage scrolls" tabIndex={0}>
			<div class="usage-head">
				<h1>Overview</h1>
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
			</div>
			{problem === undefined ? null : <p class="notice is-error">{problem}</p>}
			{last === undefined ? (
				<p class="empty">Reading…</p>
			) : (
				<>
					<dl class="figures tiles">
						<Figure name="sessions">{formatCount(last.sessions)}</Figure>
						<Figure name="need you now">
							{waiting.length === 0 ? "0" : <a href="#/?status=needs-you">{formatCount(waiting.length)}</a>}
						</Figure>
						<Figure name="errors">
							{formatCount(sum("errors"))}{" "}
							{failed === 0 ? null : (
								<a class="quiet" href="#/?status=error">
									{failed === 1 ? "1 failed session" : `${formatCount(failed)} failed sessions`}
								</a>
							)}
						</Figure>
						<Figure name="cost">
							{sum("unpriced") > 0 && sum("cost") === 0 ? "unknown" : formatCost(sum("cost"))}{" "}
							{sum("unpriced") === 0 ? null : (
								<span class="quiet">+ {formatCount(sum("unpriced"))} of unknown cost</span>
							)}
						</Figure>
						<Figure name="tokens">{formatCount(sum("inputTokens") + sum("outputTokens"))}</Figure>
						<Figure name="input from the cache">
							{formatShare(sum("cachedTokens"), sum("inputTokens"))}{" "}
							<span class="quiet">{formatCount(sum("cachedTokens"))} tokens</span>
						</Figure>
						<Figure name="answers">{formatCount(sum("answers"))}</Figure>
						<Figure name="tool calls">{formatCount(sum("toolCalls"))}</Figure>
					</dl>
					<Prices of={last.groups} unpriced={sum("unpriced")} />
					<UsageCharts buckets={last.buckets} latencies={last.latencies} />
					<UsageGroups groups={last.groups} buckets={last.buckets} waiting={waiting} />
					<ModelsTable />
				</>
			)}
		</main>
	);
}

/** What to do about models without a price. */
function Prices(props: {
	readonly of: readonly UsageGroup[];
	/** Answers of unknown cost, including those of sub-agents. */
	readonly unpriced: number;
}): JSX.Element | null {
	const { of, unpriced } = props;
	const models = of.filter(({ kind, unpriced }) => kind === "model" && unpriced > 0).map(({ name }) => name);
	if (models.length === 0 && unpriced === 0) return null;
	if (models.length === 0)
		return (
			<p class="hint">
				The cost of sub-agents' answers is unknown: add the option <code>prices</code> to them, too.
			</p>
		);
	const lines = models.map((name) => `  ${JSON.stringify(name)}: { input: 0, output: 0 },`).join("\n");
	return (
		<div class="hint">
			<p>
				The cost of {models.join(", ")} is unknown. Add prices to the agent, in US dollars per million tokens:
			</p>
			<Command text={`prices: {\n${lines}\n},`} name="Copy the prices" />
		</div>
	);
}

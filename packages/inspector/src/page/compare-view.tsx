// Compares two sessions side by side: their totals and their turns.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SessionCounts } from "../wire/index.ts";
import { ConversationList } from "./conversation.tsx";
import { formatCost, formatCount, formatDuration, formatPrice } from "./format.ts";
import { linkTo } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";
import { useSession } from "./session-view.tsx";
import { TimelineList } from "./timeline.tsx";
import { WordDiff } from "./word-diff.tsx";

export function CompareView({ left, right }: { readonly left: string; readonly right: string }): JSX.Element {
	const one = useSession(left);
	const other = useSession(right);
	const [what, setWhat] = useState<Shown>("conversation");
	return (
		<main class="compare">
			<div class="compare-head">
				<h1>Comparison</h1>
				<label>
					As{" "}
					<select value={what} onChange={({ currentTarget }) => setWhat(currentTarget.value as typeof what)}>
						<option value="conversation">conversations</option>
						<option value="timeline">traces</option>
						<option value="answers">last answers, with differences</option>
					</select>
				</label>
			</div>
			<Numbers one={one} other={other} />
			{what === "answers" ? (
				<Answers one={one} other={other} />
			) : (
				<div class="split">
					<Side of={one} what={what} />
					<Side of={other} what={what} />
				</div>
			)}
		</main>
	);
}

type Shown = "conversation" | "timeline" | "answers";

/** The last answers of both sessions: what only the first one contains is struck out. */
function Answers({ one, other }: { readonly one: SessionStore; readonly other: SessionStore }): JSX.Element {
	const [left, right] = [one, other].map((store) => {
		void store.version.value;
		return (
			store.conversation.said.findLast(({ who, text }) => who === "assistant" && text !== "")?.text ?? ""
		);
	});
	return (
		<Scrolls class="scrolls answers" label="Last answers">
			<p class="quiet">
				{left === right
					? "Both answers are the same."
					: `Struck out: only in ${one.sessionId}. Underlined: only in ${other.sessionId}.`}
			</p>
			<WordDiff before={left ?? ""} after={right ?? ""} />
		</Scrolls>
	);
}

function Side({
	of: store,
	what,
}: {
	readonly of: SessionStore;
	readonly what: Exclude<Shown, "answers">;
}): JSX.Element {
	const version = store.version.value;
	const { sessionId } = store;
	if (store.status.value === "gone") return <p class="empty">There is no session {sessionId}.</p>;
	return (
		<section class="side">
			<h2>
				<a href={linkTo({ view: "session", sessionId, tab: "conversation" })}>
					{store.info.value?.title ?? sessionId}
				</a>
			</h2>
			{what === "conversation" ? (
				<ConversationList
					of={store.conversation}
					live={store.live.value}
					version={version}
					store={store}
					label={`Conversation of ${sessionId}`}
				/>
			) : (
				<TimelineList of={store.timeline} label={`Timeline of ${sessionId}`} />
			)}
		</section>
	);
}

const rows: readonly (readonly [
	name: string,
	of: (counts: SessionCounts) => number,
	format: (value: number) => string,
])[] = [
	["runs", ({ runs }) => runs, formatCount],
	["answers", ({ answers }) => answers, formatCount],
	["tool calls", ({ toolCalls }) => toolCalls, formatCount],
	["input tokens", ({ inputTokens }) => inputTokens, formatCount],
	["output tokens", ({ outputTokens }) => outputTokens, formatCount],
	["errors", ({ errors }) => errors, formatCount],
	["model time", ({ modelMs }) => modelMs, formatDuration],
];

function Numbers({
	one,
	other,
}: {
	readonly one: SessionStore;
	readonly other: SessionStore;
}): JSX.Element | null {
	const [left, right] = [one.info.value, other.info.value];
	if (left === undefined || right === undefined) return null;
	const costs = [left, right].map(({ counts: { cost, unpriced } }) => formatPrice(cost, unpriced));
	const cells: readonly (readonly [name: string, left: string, right: string, difference: string])[] = [
		["model", left.agent?.model ?? "", right.agent?.model ?? "", "another"],
		["cost", costs[0] ?? "", costs[1] ?? "", costDifference(left.counts, right.counts)],
		...rows.map(([name, of, format]) => {
			const [a, b] = [of(left.counts), of(right.counts)];
			return [name, format(a), format(b), `${b > a ? "+" : "−"}${format(Math.abs(b - a))}`] as const;
		}),
	];
	return (
		<Scrolls class="table" label="Numbers">
			<table>
				<thead>
					<tr>
						<th>
							<span class="hidden">session</span>
						</th>
						{cells.map(([name]) => (
							<th key={name}>{name}</th>
						))}
					</tr>
				</thead>
				<tbody>
					<tr>
						<th>{left.sessionId}</th>
						{cells.map(([name, of]) => (
							<td key={name}>{of}</td>
						))}
					</tr>
					<tr>
						<th>{right.sessionId}</th>
						{cells.map(([name, , of]) => (
							<td key={name}>{of}</td>
						))}
					</tr>
					<tr>
						<th>difference</th>
						{cells.map(([name, a, b, difference]) => (
							<td key={name} class={a === b ? "quiet" : "differs"}>
								{a === b ? "same" : difference}
							</td>
						))}
					</tr>
				</tbody>
			</table>
		</Scrolls>
	);
}

/** An unknown sum has no difference. */
function costDifference(left: SessionCounts, right: SessionCounts): string {
	if (left.unpriced > 0 || right.unpriced > 0) return "unknown";
	const more = right.cost - left.cost;
	return `${more > 0 ? "+" : "−"}${formatCost(Math.abs(more))}`;
}

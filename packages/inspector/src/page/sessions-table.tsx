// The rows of the table of sessions.
import type { JSX } from "preact";
import type { InspectedSession } from "../wire/index.ts";
import type { Column } from "./filters.ts";
import { formatCount, formatDuration, formatWhen } from "./format.ts";
import { filters, setFilters } from "./list-filters.ts";
import { Status } from "./parts.tsx";
import { Price } from "./price.tsx";
import { linkTo } from "./route.ts";
import { Box } from "./scrolls.tsx";
import { known } from "./sessions-store.ts";

const heads: readonly (readonly [column: Column, name: string])[] = [
	["status", "Status"],
	["title", "Title"],
	["agent", "Agent"],
	["steps", "Steps"],
	["tokens", "Tokens"],
	["cost", "Cost"],
	["duration", "Duration"],
	["updated", "Last activity"],
];
/** Columns whose first order is from the largest. */
const numeric: ReadonlySet<Column> = new Set(["steps", "tokens", "cost", "duration", "updated"]);

export function HeadRow(): JSX.Element {
	const { sort, order } = filters.value;
	return (
		<Box as="rowgroup" class="session-heads">
			<Box as="row" class="session-cells" aria-rowindex={1}>
				{heads.map(([column, name]) => (
					<Box
						as="columnheader"
						key={column}
						class={`cell-${column}`}
						aria-sort={sort !== column ? "none" : order === "up" ? "ascending" : "descending"}
					>
						<button
							type="button"
							onClick={() => {
								const first = numeric.has(column) ? "down" : "up";
								const other = order === "up" ? "down" : "up";
								setFilters({ sort: column, order: sort === column ? other : first });
							}}
						>
							{name}
							<span aria-hidden="true">{sort !== column ? "" : order === "up" ? " ↑" : " ↓"}</span>
						</button>
					</Box>
				))}
			</Box>
		</Box>
	);
}

export function SessionRow(props: {
	readonly of: InspectedSession | undefined;
	/** The session to compare with, if one was chosen. */
	readonly compared: string | undefined;
	readonly focused: () => void;
}): JSX.Element | null {
	const { of: session, compared, focused } = props;
	if (session === undefined) return null;
	const { sessionId, title, updatedAt, agent, failure, status } = session;
	const { counts } = known.value.get(sessionId) ?? {};
	const link =
		compared === undefined
			? linkTo({ view: "session", sessionId, tab: "conversation" })
			: linkTo({ view: "compare", left: compared, right: sessionId });
	const isOpen = status === "running" || status === "waiting";
	return (
		<Box as="presentation" class="session-line session-cells">
			<Box as="cell" class="cell-status">
				<Status of={status} />
			</Box>
			<Box as="cell" class="cell-title">
				<a href={link} onFocus={focused}>
					<span class="session-title">{title ?? "No messages yet"}</span>
				</a>{" "}
				<span class="session-id">{sessionId}</span>{" "}
				{failure === undefined ? null : (
					<span class="session-failure" title={failure.message}>
						{failure.code}: {failure.message}
					</span>
				)}
			</Box>
			<Box as="cell" class="cell-agent">
				{agent ?? ""}
			</Box>
			<Box as="cell" class="cell-steps">
				{counts === undefined ? "" : formatCount(counts.steps)}
			</Box>
			<Box as="cell" class="cell-tokens">
				{counts === undefined ? "" : formatCount(counts.inputTokens + counts.outputTokens)}
			</Box>
			<Box as="cell" class="cell-cost">
				{counts === undefined ? "" : <Price cost={counts.cost} unpriced={counts.unpriced} />}
			</Box>
			<Box as="cell" class="cell-duration">
				{counts === undefined || (counts.runMs === 0 && isOpen) ? "" : formatDuration(counts.runMs)}
			</Box>
			<Box as="cell" class="cell-updated">
				<time dateTime={new Date(updatedAt).toISOString()} title={new Date(updatedAt).toString()}>
					{formatWhen(updatedAt)}
				</time>
			</Box>
		</Box>
	);
}

// The rows of the table of sessions.
import type { JSX } from "preact";
import type { InspectedSession } from "../wire/index.ts";
import { columnsNow } from "./columns.ts";
import type { Column } from "./filters.ts";
import { formatCount, formatDuration, formatShare, formatWhen } from "./format.ts";
import { filters, setFilters } from "./list-filters.ts";
import { Marked } from "./marked.tsx";
import { Status } from "./parts.tsx";
import { Price } from "./price.tsx";
import { linkTo } from "./route.ts";
import { Box } from "./scrolls.tsx";
import { select, selectAll, selection } from "./selection.ts";
import { foundTexts } from "./sessions-search.ts";
import { known, shown } from "./sessions-store.ts";

export function HeadRow(): JSX.Element {
	const { sort, order } = filters.value;
	const list = shown.value;
	const chosen = selection.value;
	const isAll = list.length > 0 && list.every(({ sessionId }) => chosen.has(sessionId));
	return (
		<Box as="rowgroup" class="session-heads">
			<Box as="row" class="session-cells" aria-rowindex={1}>
				<Box as="columnheader" class="cell-select">
					<input
						type="checkbox"
						aria-label="Select all listed sessions"
						checked={isAll}
						ref={(element) => {
							if (element !== null) element.indeterminate = !isAll && chosen.size > 0;
						}}
						onChange={() => selectAll(isAll ? [] : list.map(({ sessionId }) => sessionId))}
					/>
				</Box>
				{columnsNow.value.map(({ id, name, isNumeric }) => (
					<Box
						as="columnheader"
						key={id}
						class={`cell-${id} ${isNumeric === true ? "is-numeric" : ""}`}
						aria-sort={sort !== id ? "none" : order === "up" ? "ascending" : "descending"}
					>
						<button
							type="button"
							onClick={() => {
								const first = isNumeric === true ? "down" : "up";
								const other = order === "up" ? "down" : "up";
								setFilters({ sort: id, order: sort === id ? other : first });
							}}
						>
							{name}
							<span aria-hidden="true">{sort !== id ? "" : order === "up" ? " ↑" : " ↓"}</span>
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
	const { sessionId } = session;
	return (
		<Box as="presentation" class="session-line session-cells">
			<Box as="cell" class="cell-select">
				<input
					type="checkbox"
					aria-label={`Select ${sessionId}`}
					checked={selection.value.has(sessionId)}
					onClick={({ shiftKey, currentTarget }) =>
						select(
							sessionId,
							currentTarget.checked,
							shiftKey ? shown.value.map((each) => each.sessionId) : undefined,
						)
					}
				/>
			</Box>
			{columnsNow.value.map(({ id, isNumeric }) => (
				<Box as="cell" key={id} class={`cell-${id} ${isNumeric === true ? "is-numeric" : ""}`}>
					{id === "title" ? (
						<Title of={session} compared={compared} focused={focused} />
					) : (
						cellOf(id, session)
					)}
				</Box>
			))}
		</Box>
	);
}

function Title(props: {
	readonly of: InspectedSession;
	readonly compared: string | undefined;
	readonly focused: () => void;
}): JSX.Element {
	const {
		of: { sessionId, title, failure, status, waitsFor = "" },
		compared,
		focused,
	} = props;
	const found = foundTexts.value.get(sessionId);
	const { unreadable = 0 } = known.value.get(sessionId)?.counts ?? {};
	const link =
		compared === undefined
			? linkTo({
					view: "session",
					sessionId,
					tab: "conversation",
					...(found === undefined ? {} : { entry: found.seq }),
				})
			: linkTo({ view: "compare", left: compared, right: sessionId });
	return (
		<>
			<a href={link} onFocus={focused}>
				<span class="session-title">
					{title ?? (status === "unreadable" ? sessionId : "No messages yet")}
				</span>
			</a>{" "}
			{found === undefined ? (
				<span class="session-id">{sessionId}</span>
			) : (
				<span class="session-excerpt">
					<Marked text={found.excerpt} words={filters.value.q} />
				</span>
			)}{" "}
			{waitsFor === "" ? null : <span class="session-waits">waits for {waitsFor}</span>}
			{failure === undefined ? null : (
				<span class="session-failure" title={failure.message}>
					{failure.code}: {failure.message}
				</span>
			)}
			{unreadable === 0 || status === "unreadable" ? null : (
				<span class="session-failure">
					{unreadable === 1 ? "1 entry" : `${formatCount(unreadable)} entries`} cannot be read
				</span>
			)}
		</>
	);
}

function cellOf(id: Exclude<Column, "title">, session: InspectedSession): JSX.Element | string {
	const { agent, user, status, createdAt, updatedAt } = session;
	const { counts } = known.value.get(session.sessionId) ?? {};
	const isOpen = status === "running" || status === "waiting";
	switch (id) {
		case "status":
			return <Status of={status} />;
		case "agent":
			return agent ?? "";
		case "user":
			return user ?? "";
		case "steps":
			return counts === undefined ? "" : formatCount(counts.steps);
		case "calls":
			return counts === undefined ? "" : formatCount(counts.toolCalls);
		case "errors":
			return counts === undefined || counts.errors === 0 ? "" : formatCount(counts.errors);
		case "tokens":
			return counts === undefined ? "" : formatCount(counts.inputTokens + counts.outputTokens);
		case "cached":
			return counts === undefined ? "" : formatShare(counts.cachedTokens, counts.inputTokens);
		case "cost":
			return counts === undefined ? "" : <Price cost={counts.cost} unpriced={counts.unpriced} />;
		case "duration":
			return counts === undefined || (counts.runMs === 0 && isOpen) ? "" : formatDuration(counts.runMs);
		case "created":
			return <When at={createdAt} />;
		case "updated":
			return <When at={updatedAt} />;
	}
}

function When({ at }: { readonly at: number }): JSX.Element {
	// The times of a damaged session may be unknown.
	if (at === 0) return <>–</>;
	return (
		<time dateTime={new Date(at).toISOString()} title={new Date(at).toString()}>
			{formatWhen(at)}
		</time>
	);
}

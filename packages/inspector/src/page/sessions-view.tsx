// The list of sessions: a table that is sorted and filtered, and the form that starts a session.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { about, areThreads } from "./about.ts";
import { agentNames, begin } from "./acts.ts";
import { keyNumber } from "./api.ts";
import { BulkBar } from "./bulk-actions.tsx";
import { columnsNow, columnTracks, isNarrow } from "./columns.ts";
import { Command } from "./copy.tsx";
import { useDraft } from "./draft.ts";
import { needsCounts } from "./filters.ts";
import { formatCount } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import { useRead } from "./latest.ts";
import { filters, setFilters } from "./list-filters.ts";
import { attempt } from "./parts.tsx";
import { go } from "./route.ts";
import { Box } from "./scrolls.tsx";
import { select, selection } from "./selection.ts";
import { FilterBar } from "./sessions-filters.tsx";
import { Columns, SearchBar } from "./sessions-parts.tsx";
import { foundTexts, keepSearching, search, searchChanged } from "./sessions-search.ts";
import {
	allSessions,
	choices,
	isCut,
	isHeld,
	isListed,
	known,
	listed,
	mostListed,
	onChanges,
	settleLines,
	shown,
	wantCounts,
} from "./sessions-store.ts";
import { HeadRow, SessionRow } from "./sessions-table.tsx";
import { VirtualList } from "./virtual-list.tsx";

/** The first of two sessions to compare. */
export const toCompare = signal<string | undefined>(undefined);

export function SessionsView(): JSX.Element {
	const { lines: list, fresh } = listed.value;
	const [current, setCurrent] = useState(0);
	const seen = useRef<readonly [number, number]>([0, 30]);
	const ending = useRef(new AbortController());
	const at = Math.min(current, list.length - 1);
	const given = filters.value;
	const needsAll = needsCounts(given);
	const { total } = choices.value;
	const count = (): void => {
		const [first, last] = seen.current;
		const visible = shown.value.slice(first, last + 1);
		wantCounts(needsAll ? [...visible, ...allSessions()] : visible, ending.current.signal);
	};
	useEffect(
		() => () => {
			ending.current.abort();
			isHeld.value = false;
		},
		[],
	);
	useEffect(count, [list, needsAll]);
	useEffect(() => {
		const stop = keepSearching(() => isListed.value, allSessions);
		const unsubscribe = onChanges((changed) => void searchChanged(changed));
		return () => {
			stop();
			unsubscribe();
		};
	}, []);
	// Lines are drawn again if one of these is another object.
	const version = useMemo(
		() => ({}),
		[list, selection.value, columnsNow.value, foundTexts.value, known.value],
	);
	const focusLine = (index: number): void => {
		const to = Math.max(0, Math.min(list.length - 1, index));
		setCurrent(to);
		requestAnimationFrame(() =>
			requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-index="${to}"] a`)?.focus()),
		);
	};
	const open = (): void => {
		const session = list[at];
		if (session !== undefined) go({ view: "session", sessionId: session.sessionId, tab: "conversation" });
	};
	const down = (): void => focusLine(document.activeElement?.closest(".list-line") === null ? at : at + 1);
	useKeys({
		j: down,
		ArrowDown: down,
		k: () => focusLine(at - 1),
		ArrowUp: () => focusLine(at - 1),
		Enter: open,
		x: () => {
			const id = list[at]?.sessionId;
			if (id !== undefined) select(id, !selection.value.has(id));
		},
	});
	return (
		<main class="sessions">
			<h1 class="hidden">{areThreads() ? "Threads" : "Sessions"}</h1>
			<FilterBar
				changed={() => setCurrent(0)}
				wantAll={() => wantCounts(allSessions(), ending.current.signal)}
			>
				<output class="quiet" aria-live="polite">
					{isListed.value ? `${formatCount(list.length)} of ${formatCount(total)}` : "reading…"}
					{isCut.value ? `; the first ${formatCount(mostListed)} ids` : ""}
				</output>
				<Columns />
			</FilterBar>
			{toCompare.value === undefined ? null : (
				<p class="notice">
					Choose the session to compare {toCompare.value} with.
					<button
						type="button"
						onClick={() => {
							toCompare.value = undefined;
						}}
					>
						Cancel
					</button>
				</p>
			)}
			<SearchBar />
			<BulkBar key={keyNumber.value} />
			{total === 0 && isListed.value ? (
				<Nothing />
			) : list.length === 0 && isListed.value ? (
				<div class="empty">
					<p>{search.value?.state === "searching" ? "Searching…" : "No matches."}</p>
					{given.q !== "" && given.within === "" ? (
						<button type="button" onClick={() => setFilters({ within: "messages" })}>
							Search in messages too
						</button>
					) : null}{" "}
					<button
						type="button"
						onClick={() =>
							setFilters({ q: "", within: "", status: "", when: "", agent: "", code: "", tool: "" })
						}
					>
						Clear the filters
					</button>
				</div>
			) : (
				<Box
					as="table"
					class="session-table"
					aria-label="Sessions"
					aria-rowcount={list.length + 1}
					style={{ "--columns": columnTracks.value }}
					onPointerEnter={() => {
						isHeld.value = true;
					}}
					onPointerLeave={() => {
						isHeld.value = selection.value.size > 0;
					}}
				>
					<HeadRow />
					{fresh === 0 ? null : (
						<button type="button" class="fresh" onClick={settleLines}>
							Show {formatCount(fresh)} new
						</button>
					)}
					<VirtualList
						label="Sessions"
						as="rows"
						count={list.length}
						lineHeight={isNarrow.value ? 56 : 25}
						version={version}
						keyOf={(index) => list[index]?.sessionId ?? index}
						current={at}
						onSeen={(first, last) => {
							seen.current = [first, last];
							count();
						}}
						line={(index) => (
							<SessionRow
								of={shown.value[index]}
								compared={toCompare.value}
								focused={() => setCurrent(index)}
							/>
						)}
					/>
				</Box>
			)}
			<Begin />
		</main>
	);
}

/** What to do while there is no session. */
function Nothing(): JSX.Element {
	const { origin } = location;
	const command = areThreads()
		? `curl ${origin}/api/threads -H 'content-type: application/json' -d '{"agent_id":"AGENT"}'`
		: `curl -N ${origin}/api/agent/execute -H 'content-type: application/json' -d '{"input":"Hello"}'`;
	return (
		<div class="empty">
			<h2>No {areThreads() ? "threads" : "sessions"} yet.</h2>
			<p>Write a first message below, or send one from a terminal:</p>
			<Command text={command} name="Copy the command" />
			<p>
				<a href="/openapi.json">All routes of this server</a>
			</p>
		</div>
	);
}

/** Starts a session. */
function Begin(): JSX.Element {
	const [text, setText, sentText] = useDraft("new");
	const [agents, setAgents] = useState<readonly string[]>([]);
	const [agent, setAgent] = useState<string | undefined>(undefined);
	useRead(about.value?.kind === "threads" ? agentNames : undefined, [], setAgents, () => {});
	const send = async (): Promise<void> => {
		if (text.trim() === "") return;
		await attempt(async () => {
			const sessionId = await begin(text, agent ?? agents[0]);
			sentText(text);
			go({ view: "session", sessionId, tab: "conversation" });
		});
	};
	return (
		<form
			class="composer"
			onSubmit={(event) => {
				event.preventDefault();
				void send();
			}}
		>
			{agents.length < 2 ? null : (
				<select
					aria-label="Agent of the new thread"
					value={agent ?? agents[0] ?? ""}
					onChange={({ currentTarget }) => setAgent(currentTarget.value)}
				>
					{agents.map((each) => (
						<option key={each} value={each}>
							{each}
						</option>
					))}
				</select>
			)}
			<textarea
				id="composer"
				aria-label={areThreads() ? "Message of a new thread" : "Message of a new session"}
				placeholder={areThreads() ? "Start a thread" : "Start a session"}
				rows={1}
				value={text}
				onInput={({ currentTarget }) => setText(currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
				}}
			/>
			<button type="submit" class="primary">
				Start
			</button>
		</form>
	);
}

// A session as a trace: a tree of runs, steps, answers and calls, each with a bar for its time within the run.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ShownEntry } from "../wire/index.ts";
import { childEntries, childrenFor } from "./child-entries.ts";
import { formatCost, formatCount, formatDuration } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import { latestReads } from "./latest.ts";
import { NodeDetails } from "./node-details.tsx";
import { notice } from "./parts.tsx";
import type { SessionStore } from "./session-store.ts";
import { placeOf, Timeline } from "./timeline-model.ts";
import { type ChildTrace, shownRows, type TraceRow, traceRows } from "./trace-rows.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ReadChild extends ChildTrace {
	readonly entries: readonly ShownEntry[];
}

/** The trace, and the details of the chosen node. */
export function TraceTab(props: {
	readonly store: SessionStore;
	/** Called with the entry of the chosen node, if the session has it. */
	readonly chosen?: (seq: number | undefined) => void;
	/** Shows the end at first, and follows it. */
	readonly isAtEnd?: boolean;
	/** The entry to select first. */
	readonly entry?: number | undefined;
}): JSX.Element {
	const { store, chosen, isAtEnd = false, entry } = props;
	const version = store.version.value;
	const { timeline } = store;
	const info = store.info.value;
	const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
	const [search, setSearch] = useState("");
	const [selected, setSelected] = useState<string | undefined>(undefined);
	const [children, read] = useChildren(store);
	const all = useMemo(
		() =>
			traceRows(timeline, (callId, name) => {
				const known = children.get(callId);
				if (known !== undefined) return known;
				return childrenFor(name, store).length > 0 ? "unread" : undefined;
			}),
		[timeline, version, children, info?.children.length],
	);
	const rows = useMemo(() => shownRows(all, closed, search), [all, closed, search]);
	const isRead = all.some(({ seq }) => entry !== undefined && seq >= entry);
	/** The entry that was asked for when the user last selected a row: it arrives too late to be selected. */
	const overruled = useRef<number | undefined>(undefined);
	useEffect(() => {
		// A result has no row of its own: its call, which began before, is selected.
		if (isRead && overruled.current !== entry)
			setSelected(all.findLast(({ seq, child }) => child === undefined && seq <= (entry ?? 0))?.key);
	}, [entry, isRead]);
	const index = rows.findIndex(({ key }) => key === selected);
	const row = all.find(({ key }) => key === selected);
	const select = (next: TraceRow | undefined): void => {
		overruled.current = entry;
		setSelected(next?.key);
		chosen?.(next?.child === undefined ? next?.seq : undefined);
	};
	const move = (by: number): void => select(rows[Math.max(0, Math.min(rows.length - 1, index + by))]);
	const toggle = (of: TraceRow, open = !isOpen(of)): void => {
		if (of.callId !== undefined && !children.has(of.callId)) {
			if (open) read(of.callId, of.label);
			return;
		}
		const next = new Set(closed);
		if (open) next.delete(of.key);
		else next.add(of.key);
		setClosed(next);
	};
	const isOpen = ({ key, callId }: TraceRow): boolean =>
		!closed.has(key) && (callId === undefined || children.has(callId));
	const openRow = (open: boolean): void => {
		if (row?.hasRows === true && isOpen(row) !== open) toggle(row, open);
	};
	useKeys({
		j: () => move(1),
		k: () => move(-1),
		ArrowDown: () => move(1),
		ArrowUp: () => move(-1),
		ArrowRight: () => openRow(true),
		ArrowLeft: () => openRow(false),
		...(row === undefined ? {} : { Escape: () => select(undefined) }),
		f: () => document.querySelector<HTMLElement>("#trace-search")?.focus(),
	});
	const ofChild = row?.child === undefined ? undefined : childOf(children, row.child);
	return (
		<>
			<div class="trace">
				<div class="trace-bar">
					<input
						id="trace-search"
						type="search"
						aria-label="Search the trace"
						placeholder="Search the trace"
						value={search}
						onInput={({ currentTarget }) => setSearch(currentTarget.value)}
					/>
					<button
						type="button"
						onClick={() =>
							setClosed(
								closed.size > 0
									? new Set()
									: new Set(all.filter(({ kind }) => kind === "step").map(({ key }) => key)),
							)
						}
					>
						{closed.size > 0 ? "Open all" : "Close steps"}
					</button>
				</div>
				<TraceList
					of={rows}
					last={timeline.last}
					version={`${version} ${info?.children.length} ${children.size} ${closed.size} ${search}`}
					selected={selected}
					select={select}
					toggle={toggle}
					isOpen={isOpen}
					current={index}
					isAtEnd={isAtEnd}
				/>
			</div>
			{row === undefined ? null : (
				<NodeDetails
					key={row.key}
					row={row}
					of={
						row.child === undefined
							? store
							: { sessionId: store.sessionId, child: row.child, entries: ofChild?.entries ?? [] }
					}
					system={info?.agent?.system}
					close={() => select(undefined)}
				/>
			)}
		</>
	);
}

/** The trace of a session alone, for example next to another one. */
export function TimelineList({ of, label }: { readonly of: Timeline; readonly label: string }): JSX.Element {
	const rows = traceRows(of);
	return <TraceList of={rows} last={of.last} version={`${rows.length} ${of.last}`} label={label} />;
}

function childOf(children: ReadonlyMap<string, ReadChild>, child: string): ReadChild | undefined {
	for (const each of children.values()) if (each.child === child) return each;
	return undefined;
}

/** The sub-agents that were opened, by their call, and a function that opens one. */
function useChildren(
	store: SessionStore,
): readonly [ReadonlyMap<string, ReadChild>, (callId: string, name: string) => void] {
	const [children, setChildren] = useState<ReadonlyMap<string, ReadChild>>(new Map());
	const wanted = useRef(new Map<string, string>());
	const [reads] = useState(latestReads);
	const read = (callId: string, name: string): void => {
		wanted.current.set(callId, name);
		reads.start(
			callId,
			(signal) => childEntries(store.sessionId, childrenFor(name, store), callId, signal),
			(found) => {
				const timeline = new Timeline();
				for (const entry of found?.entries ?? []) timeline.add(entry);
				const child = found?.child.child ?? "";
				setChildren((before) =>
					new Map(before).set(callId, { child, timeline, entries: found?.entries ?? [] }),
				);
			},
			({ message }) => {
				wanted.current.delete(callId);
				notice.value = { text: `The sub-agent's session could not be read: ${message}`, isError: true };
			},
		);
	};
	const seen = (store.info.value?.children ?? []).map(({ child, seq }) => `${child} ${seq}`).join();
	useEffect(() => {
		for (const [callId, name] of wanted.current) read(callId, name);
	}, [seen]);
	useEffect(() => reads.end, []);
	return [children, read];
}

/** Kinds that have a duration, even if it is none; the others happen at a time. */
const lasting: ReadonlySet<TraceRow["kind"]> = new Set(["run", "step", "model", "tool"]);
/** Kinds whose label is their name. */
const named: ReadonlySet<TraceRow["kind"]> = new Set(["run", "step", "input", "takeover", "retry", "wait"]);

function TraceList(props: {
	readonly of: readonly TraceRow[];
	readonly last: number;
	readonly version: string;
	readonly selected?: string | undefined;
	readonly select?: (row: TraceRow) => void;
	readonly toggle?: (row: TraceRow) => void;
	readonly isOpen?: (row: TraceRow) => boolean;
	readonly current?: number;
	readonly isAtEnd?: boolean;
	readonly label?: string;
}): JSX.Element {
	const {
		of: rows,
		last,
		version,
		selected,
		select,
		toggle,
		isOpen,
		current,
		isAtEnd,
		label = "Trace",
	} = props;
	if (rows.length === 0) return <p class="empty">Nothing here.</p>;
	return (
		<VirtualList
			label={label}
			class="timeline"
			count={rows.length}
			lineHeight={26}
			version={`${version} ${rows.length} ${last} ${selected}`}
			keyOf={(index) => rows[index]?.key ?? index}
			current={current}
			isAtEnd={isAtEnd === true}
			line={(index) => {
				const row = rows[index];
				return row === undefined ? null : (
					<RowLine
						of={row}
						last={last}
						isSelected={row.key === selected}
						select={select}
						{...(row.hasRows && toggle !== undefined ? { toggle, isOpen: isOpen?.(row) === true } : {})}
					/>
				);
			}}
		/>
	);
}

function RowLine(props: {
	readonly of: TraceRow;
	readonly last: number;
	readonly isSelected: boolean;
	readonly select: ((row: TraceRow) => void) | undefined;
	readonly toggle?: (row: TraceRow) => void;
	readonly isOpen?: boolean;
}): JSX.Element {
	const { of: row, last, isSelected, select, toggle, isOpen } = props;
	const { left, width } = placeOf(row, last);
	const took = row.end === undefined ? "open" : formatDuration(row.end - row.start);
	const isMoment = row.end === row.start && !lasting.has(row.kind);
	return (
		<div class={`span span-${row.kind} ${row.failed ? "is-failed" : ""} ${isSelected ? "is-selected" : ""}`}>
			<span class="span-name" style={{ paddingLeft: `${Math.min(row.depth, 8) * 14}px` }}>
				{toggle === undefined ? (
					<span class="span-toggle" />
				) : (
					<button
						type="button"
						class="span-toggle"
						aria-expanded={isOpen}
						aria-label={`Contents of ${row.label}`}
						onClick={() => toggle(row)}
					>
						{isOpen === true ? "▾" : "▸"}
					</button>
				)}
				{/* The key keeps it the same element when the toggle becomes a button: a click or the focus would move. */}
				<button
					key="main"
					type="button"
					class="span-main"
					aria-pressed={isSelected}
					onClick={() => select?.(row)}
				>
					<span class="span-kind">{named.has(row.kind) ? "" : row.kind}</span>
					<span class="span-label">
						{row.label} <span class="quiet">{row.detail}</span>
					</span>
				</button>
			</span>
			<span class="span-bar" aria-hidden="true">
				<span style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }} />
			</span>
			<span class="span-more">
				{row.tokens === undefined ? "" : formatCount(row.tokens)}
				{row.cost === undefined ? "" : ` · ${formatCost(row.cost)}`}
			</span>
			<span class="span-numbers">{isMoment ? new Date(row.start).toLocaleTimeString("en-GB") : took}</span>
		</div>
	);
}

// The columns of the table of sessions: those that the user chose in this browser, without empty ones and those that do
// not fit the page.
import { computed, signal } from "@preact/signals";
import type { Column } from "./filters.ts";
import { choices } from "./sessions-store.ts";

/** A column, with its width in pixels. */
export interface TableColumn {
	readonly id: Column;
	readonly name: string;
	readonly width: number;
	/** Sorted from the largest first. */
	readonly isNumeric?: true;
	/** If columns do not fit, those with the lowest rank are left out first. */
	readonly rank: number;
}

/** All columns, in their order. */
export const allColumns: readonly TableColumn[] = [
	{ id: "status", name: "Status", width: 92, rank: 13 },
	{ id: "title", name: "Title", width: 220, rank: 14 },
	{ id: "agent", name: "Agent", width: 112, rank: 7 },
	{ id: "user", name: "User", width: 112, rank: 6 },
	{ id: "steps", name: "Steps", width: 56, isNumeric: true, rank: 3 },
	{ id: "calls", name: "Calls", width: 56, isNumeric: true, rank: 2 },
	{ id: "errors", name: "Errors", width: 58, isNumeric: true, rank: 8 },
	{ id: "tokens", name: "Tokens", width: 78, isNumeric: true, rank: 10 },
	{ id: "cached", name: "Cached", width: 66, isNumeric: true, rank: 5 },
	{ id: "cost", name: "Cost", width: 78, isNumeric: true, rank: 11 },
	{ id: "duration", name: "Duration", width: 88, isNumeric: true, rank: 9 },
	{ id: "created", name: "Started", width: 100, isNumeric: true, rank: 4 },
	{ id: "updated", name: "Last activity", width: 100, isNumeric: true, rank: 12 },
];
const usual: readonly Column[] = [
	...(["status", "title", "agent", "steps", "tokens", "cost", "duration", "updated"] as const),
];
/** The lines of a narrow page have a fixed arrangement. */
const narrowColumns: ReadonlySet<Column> = new Set(["status", "title", "cost", "updated"]);

const storedUnder = "holdfast.inspector.columns";

/** The columns that the user chose; the title is always one of them. */
export const chosenColumns = signal<ReadonlySet<Column>>(readChosen());

export function chooseColumn(id: Column, isShown: boolean): void {
	const chosen = new Set(chosenColumns.value);
	if (isShown) chosen.add(id);
	else chosen.delete(id);
	chosenColumns.value = chosen;
	try {
		localStorage.setItem(storedUnder, JSON.stringify([...chosen]));
	} catch {
		// Without storage, the choice lasts until the page is closed.
	}
}

function readChosen(): ReadonlySet<Column> {
	try {
		const found: unknown = JSON.parse(localStorage.getItem(storedUnder) ?? "null");
		if (!Array.isArray(found)) return new Set(usual);
		return new Set(allColumns.map(({ id }) => id).filter((id) => id === "title" || found.includes(id)));
	} catch {
		return new Set(usual);
	}
}

const width = signal(innerWidth);
addEventListener("resize", () => {
	width.value = innerWidth;
});
/** Whether each session has two lines instead of columns. */
export const isNarrow = computed(() => width.value <= 700);

const gap = 12;
const sides = 76;

/** The columns of the table. */
export const columnsNow = computed<readonly TableColumn[]>(() => {
	if (isNarrow.value) return allColumns.filter(({ id }) => narrowColumns.has(id));
	const { agents, users } = choices.value;
	const isEmpty = (id: Column): boolean =>
		(id === "agent" && agents.size === 0) || (id === "user" && users.size === 0);
	const fitting = allColumns.filter(({ id }) => chosenColumns.value.has(id) && !isEmpty(id));
	const needed = (): number => fitting.reduce((sum, column) => sum + column.width + gap, sides);
	while (needed() > width.value && fitting.length > 1) {
		const least = fitting.reduce((left, right) => (left.rank < right.rank ? left : right));
		fitting.splice(fitting.indexOf(least), 1);
	}
	return fitting;
});

/** The columns as a grid: the title takes the remaining width. */
export const columnTracks = computed(() =>
	[
		"1.1rem",
		...columnsNow.value.map((each) => (each.id === "title" ? "minmax(10rem, 1fr)" : `${each.width}px`)),
	].join(" "),
);

// The current filters of the list of sessions, and the saved ones. They are part of the address, so that a link, a reload
// and the history keep them.
import { computed, signal } from "@preact/signals";
import { type Filters, filtersOf, queryOf } from "./filters.ts";
import { listQuery, replaceListQuery } from "./route.ts";

/** The current filters. */
export const filters = computed(() => filtersOf(listQuery.value));

/** Changes some filters. */
export function setFilters(change: Partial<Filters>): void {
	replaceListQuery(queryOf({ ...filters.value, ...change }));
}

/** A named set of filters. */
export interface SavedView {
	readonly name: string;
	readonly query: string;
}

/** The views that every list has. */
export const givenViews: readonly SavedView[] = [
	{ name: "All", query: "" },
	{ name: "Needs you", query: "status=needs-you" },
	{ name: "Failed", query: "status=error" },
	{ name: "Running", query: "status=running" },
];

const storedUnder = "holdfast.inspector.views";

/** The views that the user saved in this browser. */
export const savedViews = signal<readonly SavedView[]>(readViews());

export function saveViews(views: readonly SavedView[]): void {
	savedViews.value = views;
	try {
		localStorage.setItem(storedUnder, JSON.stringify(views));
	} catch {
		// Without storage, views last until the page is closed.
	}
}

function readViews(): readonly SavedView[] {
	try {
		const found: unknown = JSON.parse(localStorage.getItem(storedUnder) ?? "[]");
		return Array.isArray(found)
			? found.filter((each) => typeof each?.name === "string" && typeof each?.query === "string")
			: [];
	} catch {
		return [];
	}
}

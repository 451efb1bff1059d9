// The filters and the order of the list of sessions: how they are written in the address, and what passes them.
import type { InspectedCounts, InspectedSession } from "../wire/index.ts";

/** Columns to sort by. */
export const columns = [
	"status",
	"title",
	"agent",
	"user",
	"steps",
	"calls",
	"errors",
	"tokens",
	"cached",
	"cost",
	"duration",
	"created",
	"updated",
] as const;
export type Column = (typeof columns)[number];

/** The filters. An empty text filters nothing. */
export interface Filters {
	readonly q: string;
	/** Whether `q` is also looked for in the messages of sessions. */
	readonly within: "" | "messages";
	readonly status: string;
	/** A range of dates: a name such as `today`, or `2026-01-01..2026-01-31`. */
	readonly when: string;
	readonly agent: string;
	readonly code: string;
	readonly tool: string;
	readonly sort: Column;
	readonly order: "up" | "down";
}

export const noFilters: Filters = {
	q: "",
	within: "",
	status: "",
	when: "",
	agent: "",
	code: "",
	tool: "",
	sort: "updated",
	order: "down",
};

/** The filters of a query. Unknown members are ignored. */
export function filtersOf(query: string): Filters {
	const given = new URLSearchParams(query);
	const text = (name: keyof Filters): string => given.get(name) ?? "";
	const sort = columns.find((each) => each === text("sort")) ?? noFilters.sort;
	const order = text("order") === "up" ? "up" : "down";
	const [q, status, when] = [text("q"), text("status"), text("when")];
	const within = text("within") === "messages" ? "messages" : "";
	return {
		q,
		within,
		status,
		when,
		agent: text("agent"),
		code: text("code"),
		tool: text("tool"),
		sort,
		order,
	};
}

/** The query of filters; without those that filter nothing. */
export function queryOf(filters: Filters): string {
	const given = new URLSearchParams();
	for (const [name, value] of Object.entries(filters))
		if (value !== noFilters[name as keyof Filters]) given.set(name, value);
	return given.toString();
}

const open: ReadonlySet<string> = new Set(["running", "waiting", "parked", "interrupted", "queued"]);
const needy: ReadonlySet<string> = new Set(["waiting", "parked", "interrupted"]);

/** Data of a session in addition to its row. */
export type Known = Omit<InspectedCounts, "sessionId">;

/** Columns that show totals. */
const counted: ReadonlySet<Column> = new Set([
	...(["steps", "calls", "errors", "tokens", "cached", "cost", "duration"] as const),
]);

/** Whether filters or order need the totals of every session. */
export function needsCounts({ code, tool, sort }: Filters): boolean {
	return code !== "" || tool !== "" || counted.has(sort);
}

/** Whether a session passes. */
export function passes(
	{ sessionId, title = "", status, agent = "", updatedAt, failure }: InspectedSession,
	known: Known | undefined,
	given: Filters,
	now: number,
	/** A search found the words in its messages. */
	isFound = false,
): boolean {
	const words = given.q.toLowerCase().split(/\s+/).filter(Boolean);
	const text = `${sessionId} ${title} ${failure?.message ?? ""}`.toLowerCase();
	const isStatus =
		given.status === "" ||
		given.status === status ||
		(given.status === "open" && open.has(status)) ||
		(given.status === "needs-you" && needy.has(status));
	const [from, until] = rangeOf(given.when, now);
	return (
		isStatus &&
		(isFound || words.every((word) => text.includes(word))) &&
		updatedAt >= from &&
		updatedAt < until &&
		(given.agent === "" || given.agent === agent) &&
		(given.code === "" || failure?.code === given.code || known?.codes.includes(given.code) === true) &&
		(given.tool === "" || known?.tools.includes(given.tool) === true)
	);
}

const hour = 3_600_000;

/** Returns the range of a name or of two dates: from, and before. */
export function rangeOf(when: string, now: number): readonly [from: number, until: number] {
	const today = new Date(now).setHours(0, 0, 0, 0);
	const dayAfter = (at: number): number => {
		const date = new Date(at);
		return date.setDate(date.getDate() + 1);
	};
	const dayBefore = (at: number, days: number): number => {
		const date = new Date(at);
		return date.setDate(date.getDate() - days);
	};
	const forever = Number.POSITIVE_INFINITY;
	switch (when) {
		case "":
			return [0, forever];
		case "hour":
			return [now - hour, forever];
		case "today":
			return [today, forever];
		case "yesterday":
			return [dayBefore(today, 1), today];
		case "week":
			return [dayBefore(today, 6), forever];
		case "month":
			return [dayBefore(today, 29), forever];
		default: {
			const [from = "", until = ""] = when.split("..");
			const begin = Date.parse(`${from}T00:00`);
			const end = Date.parse(`${until}T00:00`);
			return [Number.isNaN(begin) ? 0 : begin, Number.isNaN(end) ? forever : dayAfter(end)];
		}
	}
}

/** Compares two sessions by the chosen column; those whose value is unknown are last. */
export function comparator(
	{ sort, order }: Pick<Filters, "sort" | "order">,
	knownOf: (sessionId: string) => Known | undefined,
): (left: InspectedSession, right: InspectedSession) => number {
	const cellOf = (each: InspectedSession): string | number | undefined => {
		const { counts } = knownOf(each.sessionId) ?? {};
		switch (sort) {
			case "status":
				return each.status;
			case "title":
				return (each.title ?? "").toLowerCase();
			case "agent":
				return each.agent ?? "";
			case "user":
				return each.user ?? "";
			case "steps":
				return counts?.steps;
			case "calls":
				return counts?.toolCalls;
			case "errors":
				return counts?.errors;
			case "cached":
				return counts && counts.cachedTokens / Math.max(1, counts.inputTokens);
			case "tokens":
				return counts && counts.inputTokens + counts.outputTokens;
			case "cost":
				return counts && counts.cost === 0 && counts.unpriced > 0 ? undefined : counts?.cost;
			case "duration":
				return counts?.runMs;
			case "created":
				return each.createdAt;
			case "updated":
				return each.updatedAt;
		}
	};
	const sign = order === "up" ? 1 : -1;
	const byId = (left: InspectedSession, right: InspectedSession): number =>
		right.updatedAt - left.updatedAt || (left.sessionId < right.sessionId ? -1 : 1);
	return (left, right) => {
		const [a, b] = [cellOf(left), cellOf(right)];
		if (a === b) return byId(left, right);
		if (a === undefined) return 1;
		if (b === undefined) return -1;
		return a < b ? -sign : sign;
	};
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InspectedSession } from "../wire/index.ts";
import {
	columns,
	comparator,
	filtersOf,
	type Known,
	noFilters,
	passes,
	queryOf,
	rangeOf,
} from "./filters.ts";

const now = new Date(2026, 10, 29, 12).getTime();
const day = 86_400_000;

function session(sessionId: string, more: Partial<InspectedSession> = {}): InspectedSession {
	return { sessionId, status: "completed", seq: 1, createdAt: now, updatedAt: now, ...more };
}

function known(numbers: Partial<Known["counts"]>, more: Partial<Known> = {}): Known {
	const counts = {
		...{ runs: 1, steps: 1, answers: 1, toolCalls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
		...{ cost: 0, unpriced: 0, errors: 0, modelMs: 0, runMs: 0, unreadable: 0, ...numbers },
	};
	return { counts, tools: [], codes: [], ...more };
}

describe("the filters of the list", () => {
	test("are unchanged after they were written into the address and read from it", () => {
		const text = fc.string({ unit: "binary" });
		const any = fc.record({
			...{ q: text, status: text, when: text, agent: text, code: text, tool: text },
			within: fc.constantFrom("" as const, "messages" as const),
			sort: fc.constantFrom(...columns),
			order: fc.constantFrom("up" as const, "down" as const),
		});
		fc.assert(
			fc.property(any, (given) => {
				expect(filtersOf(queryOf(given))).toEqual(given);
			}),
		);
		expect(queryOf(noFilters)).toBe("");
		expect(filtersOf("sort=nothing&order=sideways&other=1")).toEqual(noFilters);
	});

	test("find sessions by words of their title, id and error", () => {
		const failed = session("ticket-7", {
			title: "Refund the lamp",
			status: "error",
			failure: { code: "run_failed", message: "The provider is overloaded" },
		});
		const found = (q: string) => passes(failed, undefined, { ...noFilters, q }, now);
		expect(["", "LAMP", "ticket refund", "overloaded"].map(found)).toEqual([true, true, true, true]);
		expect(found("lamp bulb")).toBe(false);
	});

	test("find sessions that an operator has to act on", () => {
		const statuses = ["waiting", "parked", "interrupted", "running", "completed"] as const;
		const found = (status: string) =>
			statuses.filter((each) =>
				passes(session("s", { status: each }), undefined, { ...noFilters, status }, now),
			);
		expect(found("needs-you")).toEqual(["waiting", "parked", "interrupted"]);
		expect(found("open")).toEqual(["waiting", "parked", "interrupted", "running"]);
		expect(found("completed")).toEqual(["completed"]);
	});

	test("find sessions by the tools that they called and the codes of all their errors", () => {
		const more = known({}, { tools: ["search"], codes: ["timeout"] });
		const found = (change: Partial<typeof noFilters>, of?: Known) =>
			passes(session("s"), of, { ...noFilters, ...change }, now);
		expect([found({ tool: "search" }, more), found({ code: "timeout" }, more)]).toEqual([true, true]);
		expect([found({ tool: "erase" }, more), found({ code: "other" }, more)]).toEqual([false, false]);
		expect(found({ tool: "search" })).toBe(false);
	});

	test("handle yesterday, and include both days of a range", () => {
		const midnight = new Date(2026, 10, 29).getTime();
		expect(rangeOf("yesterday", now)).toEqual([midnight - day, midnight]);
		expect(rangeOf("2026-11-27..2026-11-28", now)).toEqual([midnight - 2 * day, midnight]);
		expect(rangeOf("..", now)).toEqual([0, Number.POSITIVE_INFINITY]);
	});
});

describe("the order of the list", () => {
	test("puts sessions whose value is unknown last in both directions", () => {
		const numbers: Readonly<Record<string, Known>> = {
			cheap: known({ cost: 1 }),
			dear: known({ cost: 2 }),
			unpriced: known({ cost: 0, unpriced: 1 }),
		};
		const sorted = (order: "up" | "down") =>
			["unpriced", "cheap", "unread", "dear"]
				.map((id) => session(id))
				.sort(comparator({ sort: "cost", order }, (id) => numbers[id]))
				.map(({ sessionId }) => sessionId);
		expect(sorted("up")).toEqual(["cheap", "dear", "unpriced", "unread"]);
		expect(sorted("down")).toEqual(["dear", "cheap", "unpriced", "unread"]);
	});
});

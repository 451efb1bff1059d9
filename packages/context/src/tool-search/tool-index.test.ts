import { describe, expect, test } from "vitest";
import { catalog } from "./catalog.fixture.ts";
import { queries } from "./queries.fixture.ts";
import { ToolIndex } from "./tool-index.ts";

const tools = catalog.map(({ name, description, parameters }) => ({
	name,
	description: String(description),
	parameters,
}));
const index = new ToolIndex(tools);

describe("the index of tools", () => {
	test("has the right tool among the first five for at least 95 % of 200 searches, and first for at least 80 %", () => {
		const places = queries.map(({ query, tools: wanted }) =>
			index.search(query, 5).findIndex(({ name }) => wanted.includes(name)),
		);
		const known = new Set(tools.map(({ name }) => name));
		expect(queries.flatMap((each) => each.tools).filter((name) => !known.has(name))).toEqual([]);
		expect(queries.length).toBeGreaterThanOrEqual(200);
		const missed = queries.filter((_, at) => places[at] === -1).map(({ query }) => query);
		expect(missed.length / queries.length, missed.join("\n")).toBeLessThanOrEqual(0.05);
		expect(places.filter((place) => place === 0).length / queries.length).toBeGreaterThanOrEqual(0.8);
	});
});

// The matrix in reduced form: about one cell of each feature, spread over the places and restarts.
import { expect, test } from "vitest";
import { cells, expectedOf, nameOf, play } from "./cells.fixture.ts";
import { needsPostgres } from "./own-cell.fixture.ts";
import { ownCells } from "./own-cells.fixture.ts";

/** One of so many cells: a number that divides none of the counts of places and restarts. */
const oneOf = 43;

const reduced = cells.filter(({ place }, at) => place !== "a session on Postgres" && at % oneOf === 0);

test.each(reduced.map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
	expect(await play(cell)).toEqual(expectedOf(cell));
});

/** Two of each of the other places. */
const withoutServers = ownCells.filter((cell) => !needsPostgres(cell));
const reducedOwn = [...Map.groupBy(withoutServers, ({ place }) => place).values()].flatMap((each) =>
	each.filter((_, at) => at === 0 || at === each.length - 1),
);

test.each(reducedOwn.map((cell) => [cell.name, cell] as const))(
	"%s",
	async (_, { expected, play: playOwn }) => {
		expect(await playOwn()).toEqual(expected);
	},
);

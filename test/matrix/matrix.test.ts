// The matrix in reduced form: of every feature a few cells, so that every place, and each restart in it, comes with several features.
import { expect, test } from "vitest";
import { cells, expectedOf, nameOf, play } from "./cells.fixture.ts";

/** One of so many cells: a number that divides none of the counts of places and restarts. */
const oneOf = 43;

const reduced = cells.filter(({ place }, at) => place !== "a session on Postgres" && at % oneOf === 0);

test.each(reduced.map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
	expect(await play(cell)).toEqual(expectedOf(cell));
});

// The whole matrix.
import { expect, test } from "vitest";
import { cells, expectedOf, nameOf, play } from "./cells.fixture.ts";

test.each(cells.map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
	expect(await play(cell)).toEqual(expectedOf(cell));
});

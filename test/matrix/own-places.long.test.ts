// The part of the matrix in threads, the runner and the command.
import { expect, test } from "vitest";
import { ownCells } from "./own-cells.fixture.ts";

test("the cells of threads, the runner and the command have names of their own", () => {
	expect(new Set(ownCells.map(({ name }) => name)).size).toBe(ownCells.length);
});

test.each(ownCells.map((cell) => [cell.name, cell] as const))("%s", async (_, { expected, play }) => {
	expect(await play()).toEqual(expected);
});

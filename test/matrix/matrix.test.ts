// The matrix in reduced form: every feature in every place, each with one of the restarts.
import { expect, test } from "vitest";
import { cells, expectedOf, nameOf, play, restarts } from "./cells.fixture.ts";
import { features } from "./features.fixture.ts";
import { type PlaceName, places } from "./places.fixture.ts";

const names = Object.keys(places) as PlaceName[];
const reduced = cells.filter(({ feature, place, restart }) => {
	if (place === "a call") return true;
	const at = features.indexOf(feature) + names.indexOf(place);
	return restart === restarts[at % restarts.length];
});

test.each(reduced.map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
	expect(await play(cell)).toEqual(expectedOf(cell));
});

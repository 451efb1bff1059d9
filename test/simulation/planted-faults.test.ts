// Whether the checks of the simulation find what is wrong: each fault planted on purpose must show within 2,000 schedules.
import { type PlantedFault, plantedFaults } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { firstFailing } from "./schedules.fixture.ts";

/** Faults that matter where sub-agents wait. */
const ofSubagents: ReadonlySet<PlantedFault> = new Set(["unnoticed-child", "hidden-child"]);
const atMost = 2_000;
/** Where the search begins for faults that few schedules show, a little before the first that does. */
const searchedFrom: Partial<Record<PlantedFault, number>> = {
	"reminded-by-namesake": 840,
	"hidden-child": 170,
	"lost-answer": 885,
};
const minutes = 60_000;

describe("the simulation detects that", () => {
	for (const [fault, what] of Object.entries(plantedFaults) as [PlantedFault, string][]) {
		test(
			`${what} (${fault})`,
			async () => {
				const scenario = ofSubagents.has(fault) ? { nested: true as const } : {};
				const from = searchedFrom[fault] ?? 1;
				const found = await firstFailing(from, atMost - from, { planted: fault, ...scenario });
				expect(found, `not found in ${atMost} schedules`).toBeDefined();
				console.log(`${fault}: found in schedule ${found?.seed}, ${found?.problem}`);
			},
			5 * minutes,
		);
	}
});

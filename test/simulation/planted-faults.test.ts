// Whether the checks of the simulation find what is wrong: each fault planted on purpose must show within 2,000 schedules.
import { type PlantedFault, plantedFaults } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { firstFailing } from "./schedules.fixture.ts";

const atMost = 2_000;
const minutes = 60_000;

describe("the simulation finds it when", () => {
	for (const [fault, what] of Object.entries(plantedFaults) as [PlantedFault, string][]) {
		test(
			`${what} (${fault})`,
			async () => {
				const found = await firstFailing(1, atMost, { planted: fault });
				expect(found, `not found in ${atMost} schedules`).toBeDefined();
				console.log(`${fault}: found in schedule ${found?.seed}, ${found?.problem}`);
			},
			5 * minutes,
		);
	}
});

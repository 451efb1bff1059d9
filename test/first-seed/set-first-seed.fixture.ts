// Gives each process of a run of tests the same first seed, in HOLDFAST_FIRST_SEED, and prints it.
import { join } from "node:path";
import { firstSeedOf } from "./first-seed.ts";

/** Called by the test runner before the first test, once for each project of a run. */
export default function setup(): void {
	const given = process.env.HOLDFAST_FIRST_SEED;
	const seed = String(firstSeedOf(given, join(import.meta.dirname, "../..")));
	if (seed === given) return;
	process.env.HOLDFAST_FIRST_SEED = seed;
	console.log(`Random input of this run: HOLDFAST_FIRST_SEED=${seed}`);
}

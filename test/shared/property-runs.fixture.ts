// How often a property is checked that takes long: in full in the longer run, and two fifths of it per commit.
import { inject } from "vitest";

declare module "vitest" {
	interface ProvidedContext {
		/** The part of its runs that a property takes, from 0 to 1. */
		readonly propertyShare: number;
	}
}

/** Returns how many of `full` runs a property takes in this run of tests. */
export function propertyRuns(full: number): number {
	return Math.ceil(full * inject("propertyShare"));
}

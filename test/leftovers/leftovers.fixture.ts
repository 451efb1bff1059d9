// Fails a file of tests that leaves a replaced global, fake timers, another environment, a listener of the process, an open
// server or endless work to the files after it in the same process.
import { afterAll, vi } from "vitest";
import { findLeftovers, lookAround } from "./find-leftovers.ts";

const before = lookAround();

afterAll(async () => {
	const leftFakeTimers = vi.isFakeTimers();
	if (leftFakeTimers) vi.useRealTimers();
	const leftovers = [...(leftFakeTimers ? ["fake timers"] : []), ...(await findLeftovers(before))];
	// The next file is not to pay for this one.
	vi.restoreAllMocks();
	vi.unstubAllGlobals();
	vi.unstubAllEnvs();
	if (leftovers.length > 0) throw new Error(`This file leaves ${leftovers.join(", ")} behind.`);
});

// The ordering table is executable: it predicts the outcomes of the requests of random schedules, and finds faults of the
// queue. HOLDFAST_ORDERING_SCHEDULES sets the number of schedules for each store, HOLDFAST_FIRST_SEED the first seed.
import { describe, expect, test } from "vitest";
import { type OrderingHost, runOrdering } from "./ordering-world.fixture.ts";
import { queueFaults } from "./queue-faults.fixture.ts";

const schedules = Number(process.env.HOLDFAST_ORDERING_SCHEDULES ?? 150);
const hosts: readonly OrderingHost[] = ["at-once", "slow", "bare"];
const atMost = 2_000;
const minutes = 60_000;

test.each(hosts)(
	"the ordering table predicts the outcome of requests: %s",
	async (host) => {
		const from = Number(process.env.HOLDFAST_FIRST_SEED);
		for (let seed = from; seed < from + schedules; seed++) {
			const { problem, trace } = await runOrdering(seed, host);
			expect(problem, `seed ${seed} (${host})\n${trace.slice(-60).join("\n")}`).toBeUndefined();
		}
	},
	20 * minutes,
);

describe("the ordering table detects when", () => {
	test.each([...queueFaults.keys()])(
		"%s",
		async (fault) => {
			let found: string | undefined;
			let seed = 0;
			while (found === undefined && seed++ < atMost) {
				const { problem } = await runOrdering(seed, hosts[seed % 2] ?? "slow", queueFaults.get(fault));
				found = problem;
			}
			expect(found, `not found in ${atMost} schedules`).toBeDefined();
			console.log(`${fault}: found in schedule ${seed}, ${found}`);
		},
		5 * minutes,
	);
});

// Features in combination: agents with random features, used at random, in processes that die at random.
// HOLDFAST_COMBINATION plays one seed and prints what happened.
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";
import { featuresOf, play } from "./play.fixture.ts";
import { memoryWorld, sqliteWorld } from "./stores.fixture.ts";

const one = process.env.HOLDFAST_COMBINATION;
const seeds = (count: number) =>
	one === undefined ? Array.from({ length: count }, (_, at) => `combination ${at}`) : [one];
const named = (count: number) => seeds(count).map((seed) => [seed, featuresOf(seed).join(", ")] as const);

test.each(named(60))("%s in memory: %s", async (seed) => {
	const { problems, log } = await play(seed, memoryWorld());
	if (one !== undefined) console.log(log.join("\n"));
	expect(problems).toEqual([]);
});

test.each(named(30))("%s in a file: %s", async (seed) => {
	const { problems } = await play(seed, sqliteWorld(join(temporaryFolder(), "s.db")));
	expect(problems).toEqual([]);
});

import { expect, test } from "vitest";
import { inMemoryClient, inMemoryClients } from "../index.ts";
import { contractTests } from "../persistent.fixture.ts";
import { inMemoryWorld } from "../worlds.fixture.ts";

contractTests("in memory", async () => inMemoryWorld());

test("in memory: two calls create two separate memories", async () => {
	await inMemoryClients().database.write("c", "k", 1);
	expect(await inMemoryClients().database.read("c", "k")).toBeNull();
	const memory = inMemoryClient();
	await memory.append("s", 1);
	expect(await memory.read("s")).toEqual([1]);
});

test("limits that are not whole numbers are rejected when clients are created", () => {
	for (const options of [
		{ maxEntryBytes: -1 },
		{ retention: { maxAgeMs: 0.5 } },
		{ retention: { maxEntries: Number.NaN } },
	])
		expect(() => inMemoryClients(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});

import * as fc from "fast-check";
import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../files/files.fixture.ts";
import { ThreadValues } from "./index.ts";

const host = memoryHost();
const valuesOf = (key: string, on: Pick<typeof host, "values"> = host): ThreadValues =>
	new ThreadValues(on.values.values(key, "kv"));

test("a key without a value returns null; every JSON value is read back unchanged [SA-094]", async () => {
	const values = valuesOf("round-trip");
	expect(await values.getValue("never")).toBeNull();
	for (const value of [
		0,
		false,
		"",
		{ a: [{ b: null, c: 1.5e-7 }], "": "🙂\u0000\ud800" },
		[],
		-0.1,
		[null],
	]) {
		await values.setValue("k", value);
		expect(await values.getValue("k")).toEqual(value);
	}
	await fc.assert(
		fc.asyncProperty(fc.string({ unit: "binary" }), fc.jsonValue(), async (key, value) => {
			await values.setValue(key, value);
			const kept = await values.getValue(key);
			expect(JSON.stringify(kept)).toBe(JSON.stringify(value));
		}),
	);
});

test("null and undefined remove a key, also a missing one [SA-095]", async () => {
	const values = valuesOf("delete");
	for (const nothing of [null, undefined]) {
		await values.setValue("k", 1);
		await values.setValue("k", nothing);
		await values.setValue("k", nothing);
		expect([await values.getValue("k"), await values.listValues()]).toEqual([null, []]);
	}
});

test("a value that is not JSON is rejected, and the old value stays [SA-096]", async () => {
	const values = valuesOf("refused");
	await values.setValue("k", { old: 1 });
	const cycle: Record<string, unknown> = {};
	cycle.itself = { cycle };
	for (const value of [() => 1, { in: [() => 1] }, 10n, { in: 10n }, cycle, Symbol("s")]) {
		await expect(values.setValue("k", value)).rejects.toMatchObject({ code: "invalid_value" });
		expect(await values.getValue("k")).toEqual({ old: 1 });
	}
});

test("a value is available to every reader, and after a restart", async () => {
	const path = `${temporaryFolder()}/values.db`;
	const first = sqliteHost(path);
	await valuesOf("t", first).setValue("k", [1]);
	expect(await valuesOf("t", first).getValue("k")).toEqual([1]);
	await first.close();
	const second = sqliteHost(path);
	expect(await valuesOf("t", second).getValue("k")).toEqual([1]);
	await second.close();
});

test("values belong to one thread [SA-098]", async () => {
	await valuesOf("one").setValue("k", 1);
	expect(await valuesOf("two").listValues()).toEqual([]);
	await valuesOf("two").setValue("k", 2);
	expect(await valuesOf("one").listValues()).toEqual([{ key: "k", value: 1 }]);
});

import { expect, test } from "vitest";
import { postgresHost } from "./index.ts";

const connectionString = "postgres://localhost/none";

test.each([
	["connectionString", {}],
	["connectionString", { connectionString: "http://localhost" }],
	[
		"connectionString",
		{ connectionString, pool: { query: async () => ({ rows: [] }), on: () => 0, options: {} } },
	],
	["schema", { connectionString, schema: 'a"; DROP SCHEMA public' }],
	["schema", { connectionString, schema: "pg_own" }],
	["pooler", { connectionString, pooler: "statement" }],
	["leaseTtlMs", { connectionString, leaseTtlMs: 0 }],
	["patienceMs", { connectionString, patienceMs: Number.NaN }],
	["workerId", { connectionString, workerId: "" }],
	["leaseTtl", { connectionString, leaseTtl: 5 }],
])("an invalid option is rejected by its name: %s", (option, options) => {
	expect(() => postgresHost(options as never)).toThrow(
		expect.objectContaining({ code: "invalid_option", data: expect.objectContaining({ option }) }),
	);
});

test("nothing connects until the host is used", async () => {
	await postgresHost({ connectionString: "postgres://no.such.host.invalid/none" }).close();
	expect(() => postgresHost(undefined as never)).toThrow(TypeError);
});

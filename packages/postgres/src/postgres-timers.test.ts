// Damaged timers, on a real server. The contract of hosts covers the others.
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

test("a timer with a damaged body is claimed and listed with the others, and can be cancelled", async () => {
	const server = await testServer();
	const schema = server.schema();
	const { timers, close } = postgresHost({ connectionString: server.url, schema });
	onTestFinished(close);
	for (const [at, name] of ["a", "b", "c"].entries())
		await timers.set({ key: "s", name, wakeAt: 1_000 + at, body: { name } });
	await server.query(`UPDATE ${schema}.timers SET body = '{"name' WHERE name = 'b'`);
	const corrupt = expect.objectContaining({ code: "journal_corrupt" });
	for (const found of [await timers.list("s"), await timers.claim({ now: 2_000 })]) {
		expect(found.map(({ name }) => name)).toEqual(["a", "b", "c"]);
		const [first, damaged, last] = found;
		expect([first?.body, last?.body]).toEqual([{ name: "a" }, { name: "c" }]);
		expect(() => damaged?.body).toThrow(corrupt);
	}
	expect(await timers.cancel("s", "b")).toBe(true);
	expect((await timers.list("s")).map(({ name }) => name)).toEqual(["a", "c"]);
});

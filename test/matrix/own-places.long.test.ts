// The part of the matrix in threads, the runner and the command.
import { postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useOwnPostgres } from "./own-cell.fixture.ts";
import { ownCells } from "./own-cells.fixture.ts";

let server: PostgresServer | undefined;
beforeAll(async () => {
	server = await startPostgresServer({ settings: { max_connections: 300 } });
	const { url } = server;
	let count = 0;
	useOwnPostgres(() => {
		const schema = `own_${count++}`;
		return () => postgresHost({ connectionString: url, schema });
	});
});
afterAll(() => server?.stop());

test("the cells of threads, the runner and the command have their own names", () => {
	expect(new Set(ownCells.map(({ name }) => name)).size).toBe(ownCells.length);
});

test.each(ownCells.map((cell) => [cell.name, cell] as const))("%s", async (_, { expected, play }) => {
	expect(await play()).toEqual(expected);
});

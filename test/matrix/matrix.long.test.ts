// The whole matrix.
import { postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cells, expectedOf, nameOf, play } from "./cells.fixture.ts";
import { usePostgres } from "./places.fixture.ts";

let server: PostgresServer | undefined;
beforeAll(async () => {
	server = await startPostgresServer({ settings: { max_connections: 300 } });
	const { url } = server;
	let count = 0;
	usePostgres(() => postgresHost({ connectionString: url, schema: `matrix_${count++}` }));
});
afterAll(() => server?.stop());

test("the matrix has at least 1,500 cells", () => {
	expect(cells.length).toBeGreaterThanOrEqual(1_500);
});

test.each(cells.map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
	expect(await play(cell)).toEqual(expectedOf(cell));
});

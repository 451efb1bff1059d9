// The queries for listeners, in addition to notifications.
import { append, begin, input, note } from "@holdfast/testing/cases";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** Creates a host that counts its polls of watched sessions, and another one on the same store. */
async function twoHosts() {
	const server = await testServer();
	const schema = server.schema();
	const pool = new pg.Pool({ connectionString: server.url });
	let looks = 0;
	const counting = {
		async connect() {
			const client = await pool.connect();
			return {
				query(config: { text: string }) {
					if (config.text.includes("version, id, epoch")) looks++;
					return client.query(config as never);
				},
				on: client.on.bind(client),
				off: client.off.bind(client),
				release: client.release.bind(client),
			};
		},
		on: pool.on.bind(pool),
		options: pool.options,
	};
	const host = postgresHost({ pool: counting as never, schema });
	const other = postgresHost({ connectionString: server.url, schema });
	onTestFinished(async () => {
		await host.close();
		await other.close();
		await pool.end();
	});
	return { host, other, looks: () => looks };
}

test("a session that others write to is not read for the lease on it", async () => {
	const { host, other, looks } = await twoHosts();
	const lease = await begin(host.journal, "s");
	lease.whenLost(() => {});
	await expect.poll(looks).toBeGreaterThan(0);
	const [before, began] = [looks(), performance.now()];
	for (let number = 0; number < 40; number++) await other.journal.submit("s", input(`i${number}`));
	const heard = new Promise<void>((resolve) => void host.journal.watch("t", () => resolve()));
	await other.journal.submit("t", input("i"));
	await heard;
	// One for the currently watched sessions, and one per second.
	expect(looks() - before).toBeLessThanOrEqual(3 + (performance.now() - began) / 1_000);
});

test("a lease whose session another host takes over ends at once, and not at the next check", async () => {
	const { host, other } = await twoHosts();
	const rounds = 8;
	const began = performance.now();
	for (let round = 0; round < rounds; round++) {
		const lease = await begin(host.journal, `s${round}`);
		const lost = new Promise<void>((resolve) => lease.whenLost(resolve));
		const taken = await other.journal.acquire(`s${round}`, { mode: "seize" });
		if (taken.ok) await append(taken.lease, "run-2", note(1));
		await lost;
	}
	// A poll follows a second after the previous one.
	expect(performance.now() - began).toBeLessThan((rounds - 2) * 1_000);
});

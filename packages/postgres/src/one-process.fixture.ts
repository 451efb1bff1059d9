// Hosts of one process on a server, as the contract suites want them.
import type { HostWorld, JournalWorld } from "@holdfast/testing";
import type { PostgresServer } from "@holdfast/testing/postgres-server";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "./index.ts";
import { reusedStores } from "./reused-store.fixture.ts";

/** No worker is considered dead, even on a slow machine. */
const leaseTtlMs = 120_000;

/** Creates environments on a server; `options` sets how its hosts connect, by default directly and with a pool each. */
export function oneProcess(
	server: () => Promise<PostgresServer>,
	options: () => Promise<PostgresHostOptions | undefined> = async () => undefined,
): () => Promise<JournalWorld & HostWorld> {
	const storeOf = reusedStores(server);
	return async () => {
		const { schema, pool, leave } = await storeOf();
		const connection = await options();
		const hosts: PostgresHost[] = [];
		const host = (): PostgresHost => {
			const files = { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 };
			const made = postgresHost({
				...(connection ?? { pool: pool(hosts.length) }),
				schema,
				leaseTtlMs,
				files,
			});
			hosts.push(made);
			return made;
		};
		return {
			host,
			worker: () => host().journal,
			async end() {
				for (const each of hosts) await each.close();
				await leave();
			},
		};
	};
}

// Hosts of one process on a server, as the contract suites want them.
import type { HostWorld, JournalWorld } from "@holdfast/testing";
import type { PostgresServer } from "@holdfast/testing/postgres-server";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "./index.ts";

/** Nobody is taken for dead, however slow the machine is. */
const leaseTtlMs = 120_000;

/** Makes worlds on a server; `options` says how its hosts connect, by default directly. */
export function oneProcess(
	server: () => Promise<PostgresServer>,
	options: () => Promise<PostgresHostOptions> = async () => ({ connectionString: (await server()).url }),
): () => Promise<JournalWorld & HostWorld> {
	return async () => {
		const schema = (await server()).schema();
		const connection = await options();
		const hosts: PostgresHost[] = [];
		const host = (): PostgresHost => {
			const files = { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 };
			const made = postgresHost({ ...connection, schema, leaseTtlMs, files });
			hosts.push(made);
			return made;
		};
		return {
			host,
			worker: () => host().journal,
			async end() {
				for (const each of hosts) await each.close();
			},
		};
	};
}

// The service: sessions in SQLite, over HTTP, with the inspector at its root.
import { inspector } from "@holdfast/inspector";
import { listen } from "@holdfast/server";
import { sqliteHost } from "holdfast/sqlite";
import { assistant } from "./agent.ts";

export interface ServiceOptions {
	/** Path of the database. */
	readonly database: string;
	/** 0 selects a free port. */
	readonly port: number;
	/** API keys, each with the tenant it belongs to. Without any, only this machine may call. */
	readonly apiKeys?: Readonly<Record<string, string>>;
}

/** Starts the server; interrupted runs of an earlier process continue. */
export async function startService({
	database,
	port,
	apiKeys,
}: ServiceOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
	const host = sqliteHost(database);
	const page = inspector();
	const server = await listen({
		agent: assistant,
		host,
		port,
		...(apiKeys === undefined ? {} : { apiKeys, hostname: "0.0.0.0" }),
		routes: page.routes,
		// Health probes have no key.
		publicPaths: ["/healthz", ...page.publicPaths],
	});
	return {
		url: server.url,
		async close() {
			// Lets runs finish for ten seconds; the next process continues the others.
			await server.close({ drainMs: 10_000 });
			await host.close();
		},
	};
}

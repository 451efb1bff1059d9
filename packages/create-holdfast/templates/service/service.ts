// The service: sessions in SQLite, over HTTP, with the inspector at its root.
import { inspector } from "@holdfast/inspector";
import { listen } from "@holdfast/server";
import { sqliteHost } from "holdfast/sqlite";
import { assistant } from "./agent.ts";

export interface ServiceOptions {
	/** Path of the database. */
	readonly database: string;
	/** 0 takes a free one. */
	readonly port: number;
	/** Keys that let callers in, each with the tenant it belongs to. Without one only this machine may call. */
	readonly apiKeys?: Readonly<Record<string, string>>;
}

/** Begins to serve; runs that an earlier process left continue. */
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
		// A probe has no key.
		publicPaths: ["/healthz", ...page.publicPaths],
	});
	return {
		url: server.url,
		async close() {
			// Lets runs finish for ten seconds; the others are left to the next process.
			await server.close({ drainMs: 10_000 });
			await host.close();
		},
	};
}

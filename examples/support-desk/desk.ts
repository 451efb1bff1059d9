// The support desk: a project of files, its threads in one SQLite file, served over HTTP.
import { createServer } from "@holdfast/server";
import { loadProject, type ThreadsOptions, threadRoutes, threads } from "@holdfast/threads";
import { sqliteHost } from "holdfast/sqlite";

/** Serves the desk, and continues the runs that a dead process left. */
export async function startDesk({
	database,
	port,
	...options
}: { readonly database: string; readonly port: number } & Partial<ThreadsOptions>): Promise<{
	readonly url: string;
	close(): Promise<void>;
}> {
	const host = sqliteHost(database);
	const desk = threads({
		project: await loadProject(import.meta.dirname),
		host,
		env: { LEDGER: { value: `${database}.ledger`, type: "text" } },
		keepDeltasMs: 20,
		...options,
	});
	const server = createServer({ routes: threadRoutes({ threads: desk }) });
	const { url } = await server.listen({ port });
	await desk.supervise();
	return {
		url,
		async close() {
			await server.close();
			await desk.close();
			await host.close();
		},
	};
}

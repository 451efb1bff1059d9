// A process that receives a session but does nothing until it is stopped and woken, for tests that kill or stop it
// between the job and the lease.
import { flushCompileCache } from "node:module";
import { type PostgresHostOptions, postgresHost } from "../index.ts";

flushCompileCache();
const host = postgresHost(JSON.parse(process.argv[2] ?? "{}") as PostgresHostOptions);
const woken = new Promise((resolve) => process.once("SIGCONT", resolve));
await host.queue.take({
	atOnce: 1,
	isOurs: () => true,
	async work() {
		process.stdout.write("handed out\n");
		await woken;
		setTimeout(() => process.stdout.write("over\n"), 200);
		return undefined;
	},
});
process.stdout.write("takes\n");

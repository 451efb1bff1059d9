// A worker: processes the store's due work until it is stopped. `holdfast worker --agent agent.ts --db postgres://…` does the same
// and writes logs.
import { postgresHost } from "@holdfast/postgres";
import { agent } from "holdfast";
import counter from "./agent.ts";

const host = postgresHost({ connectionString: process.argv[2] ?? "" });
const worker = agent({ ...counter, host });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
await host.journal.list({ limit: 1 });
process.send?.("ready");

for await (const run of worker.work({ signal: stop.signal })) {
	void run.result().then(({ outcome }) => {
		console.log(`worker ${process.pid}: ${run.sessionKey} ${outcome}`);
		process.send?.(outcome);
	});
}
await worker.close();
await host.close();
process.disconnect?.();

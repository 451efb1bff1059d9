// A process of the chaos, which is killed, stopped and cut off: a worker, or a server that serves sessions on HTTP. What it does
// to the journal is written down as it does it. Says "ready" and its port when it works.
import { appendFileSync, openSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { type PostgresHostOptions, postgresHost } from "@holdfast/postgres";
import { createServer, sessionService } from "@holdfast/server";
import { recordHistory } from "@holdfast/testing/linearizability";
import { Agent } from "holdfast";
import { chaosAgent } from "./chaos-agent.fixture.ts";

export interface ChaosProcessOptions {
	readonly role: "worker" | "server";
	readonly host: PostgresHostOptions;
	readonly effects: string;
	readonly requests: string;
	readonly history: string;
	readonly problems: string;
}

flushCompileCache();
const options = JSON.parse(process.argv[2] ?? "{}") as ChaosProcessOptions;
const file = openSync(options.history, "a");
const own = postgresHost(options.host);
const host = {
	...own,
	journal: recordHistory(own.journal, (line) => void writeSync(file, `${JSON.stringify(line)}\n`)),
};
const problem = (what: unknown): void =>
	appendFileSync(options.problems, `${options.role} ${String((what as Error)?.stack ?? what)}\n`);
process.on("unhandledRejection", (reason) => {
	problem(`unhandled: ${String((reason as Error)?.stack ?? reason)}`);
});
const agent = chaosAgent(options);

if (options.role === "worker") {
	const worker = new Agent({ ...agent, host });
	process.send?.({ ready: true });
	const onProblem = ({ error }: { error: unknown }): void => problem(error);
	for await (const run of worker.work({ onProblem })) void run.result().catch(problem);
} else {
	const service = sessionService({ host, agent });
	const server = createServer({ service, log: () => {} });
	const { url } = await server.listen({ port: 0 });
	process.send?.({ ready: true, port: Number(new URL(url).port) });
}
process.on("disconnect", () => process.exit());

// A worker of the combined chaos, which is killed.
import { appendFileSync } from "node:fs";
import { postgresHost } from "@holdfast/postgres";
import { recordHistory } from "@holdfast/testing/linearizability";
import { sqliteHost } from "holdfast/sqlite";
import { combinedAgent } from "./combined-agent.fixture.ts";

/** What the worker is given, as JSON. */
export interface CombinedProcessOptions {
	readonly store: string;
	readonly effects: string;
	readonly problems: string;
	/** After so many moments, the process kills itself: a moment is the start or end of a write, or an effect. */
	readonly life: number;
}

const { store, effects, problems, life } = JSON.parse(process.argv[2] ?? "{}") as CombinedProcessOptions;
const problem = (what: unknown): void =>
	appendFileSync(problems, `${process.pid} ${String((what as Error)?.stack ?? what)}\n`);
process.on("unhandledRejection", problem);
let left = life;
const moment = (): void => {
	if (--left === 0) process.kill(process.pid, "SIGKILL");
};
const own = store.startsWith("postgres") ? postgresHost({ connectionString: store }) : sqliteHost(store);
const host = {
	...own,
	journal: recordHistory(own.journal, (line) => {
		const kind = "begins" in line ? line.begins.kind : line.ends?.kind;
		if (kind !== "read" && kind !== undefined) moment();
	}),
};
const { agent } = combinedAgent(host, effects, moment);
process.send?.("ready");
process.on("disconnect", () => process.exit());
for await (const run of agent.work({ onProblem: ({ error }) => problem(error), lookEveryMs: 50 }))
	run.detach();

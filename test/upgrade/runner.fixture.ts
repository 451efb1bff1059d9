// A worker of a runner that is upgraded in the middle of its plan: it works on what `start` has begun. With HOLDS in the
// environment, its second tool never ends: its process is killed in it.
import { appendFileSync } from "node:fs";
import * as runner from "@holdfast/runner";
import { sqliteHost } from "holdfast/sqlite";

/** The earlier version calls it `Agent`. */
const RunnerAgent = runner.RunnerAgent ?? (runner as { Agent?: unknown }).Agent;

const steps: readonly runner.RunnerStep[] = [
	{ type: "tool", toolId: "weigh", input: {} },
	{ type: "tool", toolId: "ship", input: {} },
	{ type: "finish", message: "All is shipped." },
];

function use(id: string, holds: boolean) {
	return {
		id,
		idempotent: true,
		async run(_input: unknown, { idempotencyKey }: { readonly idempotencyKey?: string | undefined }) {
			appendFileSync("runner.jsonl", `${JSON.stringify({ id, key: idempotencyKey })}\n`);
			if (holds) await new Promise(() => setInterval(() => {}, 1_000));
			return id;
		},
	};
}

const host = sqliteHost("runner.db");
const agent = new RunnerAgent({
	id: "shipper",
	taskPrompt: "Ship it.",
	modelProviders: [],
	host,
	eventStore: runner.fileEventStore("events"),
	tools: [use("weigh", false), use("ship", process.env.HOLDS === "1")],
	planner: { plan: ({ step }) => steps[step - 1] as runner.RunnerStep },
});
if (process.argv[2] === "start") {
	const { success } = await agent.createSession({ sessionId: "parcel", task: "Ship it.", maxSteps: 9 }).run();
	console.log(JSON.stringify({ success }));
} else
	for await (const run of agent.engine.recover()) {
		const { outcome, text } = await run.result();
		console.log(JSON.stringify({ outcome, text }));
	}
await agent.stop();
await host.close();

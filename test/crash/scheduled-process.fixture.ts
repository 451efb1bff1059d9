// A worker that the tests kill or stop: it does whatever is due on a SQLite host, notifications among it, until a line
// comes, and reports its moments. Its agent has a helper that works in the background when it is asked to.
import { flushCompileCache } from "node:module";
import { scriptedModel } from "@holdfast/testing";
import { type AgentRun, agent, type Session } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { moments, Order, watchedHost } from "./moments.fixture.ts";
import { nextLine } from "./planned-tools.fixture.ts";
import type { WorkerOptions } from "./worker-process.fixture.ts";

// A process that is killed would leave nothing of what it has compiled to those after it.
flushCompileCache();

const { host: place, work, killAt, stopAt } = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const { reach } = moments(killAt, stopAt);

/** What was sent to the worker is done. */
const sent = Promise.withResolvers<void>();

/**
 * Answers each message with `re: <message>`, when all that was sent is done where it says so, and hands on to the helper
 * what begins with `later: `.
 */
const model = (who: string) =>
	scriptedModel(({ messages }) => {
		const { type, text = "" } = messages.at(-1) as { type: string; text?: string };
		reach(`${who} asked`, { text });
		if (text === "dig at last") return { text: `re: ${text}`, gate: sent.promise };
		if (!text.startsWith("later: ")) return type === "user" ? `re: ${text}` : "It is under way.";
		const prompt = text.slice("later: ".length);
		const input = { description: "does", prompt, run_in_background: true };
		return { toolCalls: [{ name: "delegate_to_helper", arguments: input }] };
	});

const base = sqliteHost(place);
const host = { ...base, journal: watchedHost(base, { reach }, new Order()).journal };
const helper = agent({ name: "helper", description: "helps", model: model("helper") });
const worker = agent({ model: model("worker"), subagents: [helper], host });

async function report(run: AgentRun): Promise<void> {
	const { runId, outcome, text, error } = await run.result();
	reach("result", { runId, outcome, text, error: error?.code });
}

async function send(session: Session, inputs: readonly string[]): Promise<void> {
	for (const input of inputs) await report(await session.send(input));
	sent.resolve();
}

const stop = new AbortController();
void nextLine().then(() => stop.abort());
const results: Promise<void>[] = [];
reach("ready");
try {
	if ("send" in work) results.push(send(worker.session("s"), work.send));
	for await (const run of worker.work({ signal: stop.signal })) {
		reach("resumed", { runId: run.runId, session: run.sessionKey });
		results.push(report(run));
	}
	await Promise.all(results);
} catch (error) {
	reach("failed", { code: (error as { code?: string }).code, message: (error as Error).message });
}
await worker.close();
await host.close();
reach("closed");
process.stdin.destroy();

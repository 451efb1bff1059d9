import { UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAgent } from "../agent/options.ts";
import type { RunEvent } from "../facts/events.ts";
import type { Entry } from "../facts/fact.ts";
import { evolve, initialSession } from "../facts/session-state.ts";
import { AgentState } from "../state/agent-state.ts";
import { drive } from "./drive.ts";
import { atRest, scriptedOptions, scripts, type Trace } from "./engine.fixture.ts";
import { ephemeralRecorder } from "./ephemeral.ts";
import { foldOptions } from "./fold-options.ts";
import { Run } from "./run.ts";
import type { Recorder } from "./run-options.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => {
	process.off("unhandledRejection", note);
	expect(unhandled).toEqual([]);
});

type Way = "at once" | "later";

/** Keeps facts and refuses from the append of a number on; answers at once or a few turns later. */
function refusingRecorder(from: number, way: Way, error: Error): { recorder: Recorder; entries: Entry[] } {
	const inner = ephemeralRecorder();
	const entries: Entry[] = [];
	let appends = 0;
	const append: Recorder["append"] = (batch) => {
		if (appends++ >= from) throw error;
		const result = inner.append(batch);
		if (result instanceof Promise || !result.ok) throw new Error("not this one");
		const first = result.seq - batch.facts.length + 1;
		entries.push(
			...batch.facts.map((fact, at) => ({ seq: first + at, at: batch.at, runId: batch.runId, fact })),
		);
		return result;
	};
	if (way === "at once") return { recorder: { ...inner, append }, entries };
	let line: Promise<unknown> = Promise.resolve();
	const later: Recorder["append"] = (batch) => {
		const appended = line.then(() => Promise.resolve()).then(() => append(batch));
		line = appended.catch(() => {});
		return appended;
	};
	return { recorder: { ...inner, append: later }, entries };
}

async function drivenOver(
	script: Parameters<typeof scriptedOptions>[0],
	from: number,
	way: Way,
	error: Error,
) {
	const trace: Trace = [];
	const signals: AbortSignal[] = [];
	const events: RunEvent[] = [];
	const { recorder, entries } = refusingRecorder(from, way, error);
	const agent = resolveAgent("agent", scriptedOptions(script, trace, signals));
	const run = new Run({ agent, runId: "run", state: initialSession(AgentState.initial()), recorder });
	run.watch({ notify: (event) => void events.push(event) });
	await run.commit([
		{ kind: "run.started", runKind: "user-turn", agentId: "agent", fingerprint: "" },
		{ kind: "input", inputId: "i", placement: "turn", shape: "text", message: new UserMessage("go") },
	]);
	const outcome = await drive(run);
	const over = trace.length;
	await atRest();
	return { agent, run, outcome, events, entries, signals, late: trace.slice(over) };
}

test.each(["at once", "later"] as const)(
	"a store that refuses any append, %s, leaves the run open with what was committed, and all settles",
	async (way) => {
		let left = 0;
		const given = fc.record({ script: scripts, from: fc.integer({ min: 1, max: 12 }) });
		await fc.assert(
			fc.asyncProperty(given, async ({ script, from }) => {
				const error = new Error("refused");
				const { agent, run, outcome, events, entries, signals, late } = await drivenOver(
					script,
					from,
					way,
					error,
				);
				expect(late).toEqual([]);
				const folded = entries.reduce(
					(state, entry) => evolve(state, entry, foldOptions(agent)),
					initialSession(AgentState.initial()),
				);
				expect(folded.seq).toBe(run.state.seq);
				expect(folded.agent.messages.map(({ type }) => type)).toEqual(
					run.state.agent.messages.map(({ type }) => type),
				);
				if (outcome.kind === "ended") return;
				left++;
				expect(outcome).toEqual({ kind: "left", reason: "journal_failed", error });
				expect(events.at(-1)).toMatchObject({ type: "run_suspended", reason: "journal_failed" });
				if ((run.state.run?.unsettled ?? 0) > 0) expect(signals.at(-1)?.aborted).toBe(true);
			}),
			{ numRuns: 150 },
		);
		expect(left).toBeGreaterThan(20);
	},
);

test.each(["at once", "later"] as const)(
	"a store that keeps everything, %s, gives the same history",
	async (way) => {
		await fc.assert(
			fc.asyncProperty(scripts, async (script) => {
				const { outcome, entries, run } = await drivenOver(
					script,
					Number.POSITIVE_INFINITY,
					way,
					new Error("never"),
				);
				expect(outcome).toEqual({ kind: "ended", outcome: "completed" });
				expect(entries.length).toBe(run.state.seq);
			}),
			{ numRuns: 60 },
		);
	},
);

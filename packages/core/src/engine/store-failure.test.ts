import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type LLMRequest, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAgent } from "../agent/options.ts";
import type { RunEvent } from "../facts/events.ts";
import { evolve } from "../facts/evolve.ts";
import type { Entry } from "../facts/fact.ts";
import { initialSession } from "../facts/session-state.ts";
import { AgentState } from "../state/agent-state.ts";
import { planOf, statuses } from "../strategies/plan.fixture.ts";
import { plan } from "../strategies/plan.ts";
import { drive } from "./drive.ts";
import { atRest, scriptedOptions, scripts, type Trace } from "./engine.fixture.ts";
import type { EngineModel, EngineResponse } from "./engine-agent.ts";
import { ephemeralRecorder } from "./ephemeral.ts";
import { foldOptions } from "./fold-options.ts";
import { Run } from "./run.ts";
import type { Recorder } from "./run-options.ts";
import type { StopReason } from "./stopped.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => {
	process.off("unhandledRejection", note);
	expect(unhandled).toEqual([]);
});

type Way = "at once" | "later";

/** Stores facts and refuses appends from a certain number on, at once or a few turns later. */
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
	"a store that rejects any append, %s, leaves the run open with its committed entries, and everything settles",
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
	"a store that accepts everything, %s, gives the same history",
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

/** Stores facts and refuses the selected appends, one turn later. */
function choosyRecorder(refuses: (kinds: readonly string[]) => boolean): {
	recorder: Recorder;
	noted: string[];
} {
	const inner = ephemeralRecorder();
	const noted: string[] = [];
	const append: Recorder["append"] = async (batch) => {
		await Promise.resolve();
		if (refuses(batch.facts.map(({ kind }) => kind))) throw new Error("refused");
		for (const fact of batch.facts) if (fact.kind === "note") noted.push(fact.topic);
		return inner.append(batch);
	};
	return { recorder: { ...inner, append }, noted };
}

async function begun(agent: ReturnType<typeof resolveAgent>, recorder: Recorder): Promise<Run> {
	const run = new Run({ agent, runId: "run", state: initialSession(AgentState.initial()), recorder });
	await run.commit([
		{ kind: "run.started", runKind: "user-turn", agentId: "agent", fingerprint: "" },
		{ kind: "input", inputId: "i", placement: "turn", shape: "text", message: new UserMessage("go") },
	]);
	return run;
}

test.each<[StopReason, object]>([
	["interrupt", { kind: "ended", outcome: "aborted" }],
	["suspend", { kind: "left", reason: "suspended" }],
	["lease-lost", { kind: "left", reason: "lease_lost" }],
	["kill", { kind: "ended", outcome: "killed" }],
])("a stop in a plan's step is not a failure of its model, by %s", async (reason, ended) => {
	const { recorder, noted } = choosyRecorder(() => false);
	const model = scriptedModel([planOf({ id: "a" }), { text: "late", gate: new Promise(() => {}) }]);
	const run = await begun(resolveAgent("agent", { model, execution: plan() }), recorder);
	run.watch({
		notify(event) {
			if (event.type === "model_start" && event.tag === "act") setImmediate(() => run.stop(reason));
		},
	});
	expect(await drive(run)).toMatchObject(ended);
	await atRest();
	expect(noted).not.toContain("model-failed");
	expect(statuses(run.state.agent.plan)).toEqual(["a: in_progress"]);
});

test("a commit that fails while a plan's step calls its model is not a failure of the model", async () => {
	const { recorder, noted } = choosyRecorder((kinds) => kinds.includes("tool.settled"));
	const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
	const calls = [{ toolCallId: "own", toolName: "own", arguments: {} }];
	const preceding = [
		new AssistantMessage("", calls),
		new ToolResultMessage([{ toolCallId: "own", result: "found" }]),
	];
	const said = planOf({ id: "a" });
	let asked = 0;
	const complete = async (): Promise<EngineResponse> => {
		const message = new AssistantMessage(asked++ === 0 ? (said.text as string) : "done");
		return { message, usage, stopReason: "stop", ...(asked > 1 ? { preceding } : {}) };
	};
	const agent = resolveAgent("agent", { model: scriptedModel([]), execution: plan() });
	const bound = agent.model();
	const model = { ...bound.model, complete, capabilities: { ...bound.model.capabilities, streaming: false } };
	const request = (messages: unknown): LLMRequest => ({ messages, config: {} }) as LLMRequest;
	const made: EngineModel = { model, request };
	const run = await begun({ ...agent, model: () => made }, recorder);
	expect(await drive(run)).toMatchObject({ kind: "left", reason: "journal_failed" });
	expect(noted).not.toContain("model-failed");
	expect(asked).toBe(2);
});

test("a store that rejects a result that a hook read leaves the run open", { timeout: 10_000 }, async () => {
	for (const toolStrategy of [{ onAfterCall: () => "replaced" }, { onError: () => {} }]) {
		const { recorder } = choosyRecorder((kinds) => kinds.includes("tool.settled"));
		const name = "onError" in toolStrategy ? "throws" : "value";
		const model = scriptedModel([{ toolCalls: [{ name }] }, "never"]);
		const agent = resolveAgent("agent", { ...scriptedOptions([]), model, toolStrategy });
		expect(await drive(await begun(agent, recorder))).toMatchObject({
			kind: "left",
			reason: "journal_failed",
		});
		await atRest();
	}
});

import { readFileSync } from "node:fs";
import type { ScriptedReply } from "@holdfast/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collect, contentOf, withoutIdentity } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import { resolveAgent } from "../agent/options.ts";
import type { RunEvent } from "../facts/events.ts";
import { evolve } from "../facts/evolve.ts";
import { project } from "../facts/project.ts";
import { initialSession, type SessionState } from "../facts/session-state.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import type { DecidingStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { react } from "../strategies/react.ts";
import {
	atRest,
	driven,
	faultsOfEvents,
	faultsOfHistory,
	scriptedOptions,
	scripts,
} from "./engine.fixture.ts";
import { foldOptions } from "./fold-options.ts";

const executions = fc.constantFrom(loop(), react());
const runs = { numRuns: 150 };
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => {
	process.off("unhandledRejection", note);
	expect(unhandled).toEqual([]);
});

describe("any script of answers, calls and failures", () => {
	test("ends the same in stream() and generate(): messages, step, usage, executions [UAP-124]", async () => {
		await fc.assert(
			fc.asyncProperty(scripts, executions, async (script, execution) => {
				const make = () => agent({ ...scriptedOptions(script, [], [], execution) });
				const generated = await make().generate("go", AgentState.initial());
				const stream = make().stream("go", AgentState.initial());
				await collect(stream);
				const streamed = await stream.result;
				expect(contentOf(streamed.state)).toEqual(contentOf(generated.state));
				const { messages, response: _, ...turn } = streamed.turn;
				const { messages: expected, response: __, ...expectedTurn } = generated.turn;
				expect(withoutIdentity(messages)).toEqual(withoutIdentity(expected));
				expect(turn).toEqual(expectedTurn);
			}),
			runs,
		);
	});

	test("gives each call exactly one result, in the order of the calls [UAP-033]", async () => {
		await fc.assert(
			fc.asyncProperty(scripts, async (script) => {
				const { run, outcome } = await driven(script);
				expect(outcome).toEqual({ kind: "ended", outcome: "completed" });
				expect(faultsOfHistory(run.state.agent.messages)).toEqual([]);
				expect(faultsOfHistory(run.state.context.toArray())).toEqual([]);
				const asked = script.reduce((sum, reply) => sum + (reply.toolCalls?.length ?? 0), 0);
				expect(run.state.run?.executions.length).toBe(asked);
			}),
			runs,
		);
	});

	test("emits events in order, each with its start and its end", async () => {
		await fc.assert(
			fc.asyncProperty(scripts, executions, async (script, execution) => {
				const { events } = await driven(script, undefined, execution);
				await atRest();
				expect(faultsOfEvents(events, "completed")).toEqual([]);
			}),
			runs,
		);
	});

	test("leaves a journal that folds to the same state, as does every prefix, and to the same events", async () => {
		await fc.assert(
			fc.asyncProperty(scripts, executions, async (script, execution) => {
				const host = memoryHost();
				const options = scriptedOptions(script, [], [], execution);
				const one = new Agent({ ...options, host } as ConstructorParameters<typeof Agent>[0]);
				const run = await one.session("k").send("go");
				const events = await collect<RunEvent>(run.watch());
				const { state, outcome } = await run.result();
				expect(outcome).toBe("completed");
				const fold = foldOptions(resolveAgent("agent", options));
				let folded: SessionState = initialSession(AgentState.initial());
				const emitted: (RunEvent | undefined)[] = [];
				for (const entry of await host.journal.read("k")) {
					const before = JSON.stringify(folded.agent.toJSON().messages);
					const next = evolve(folded, entry, fold);
					expect(JSON.stringify(folded.agent.toJSON().messages)).toBe(before);
					folded = next;
					emitted.push(project(folded, entry, "k"));
				}
				expect(contentOf(folded.agent)).toEqual(contentOf(state));
				expect(folded.agent.messages.map(({ id }) => id)).toEqual(state.messages.map(({ id }) => id));
				expect(events.filter((event) => event.sub === 0)).toEqual(
					emitted.filter((event) => event !== undefined),
				);
				await one.close();
			}),
			runs,
		);
	});
});

interface Stop {
	readonly script: ScriptedReply[];
	readonly execution: DecidingStrategy;
	readonly at: number;
	readonly delay: number;
}

describe("a stop at any moment", () => {
	const cases = fc.record({
		script: scripts,
		execution: executions,
		at: fc.nat({ max: 60 }),
		/** 0: while the event is emitted; otherwise this number of turns of the promise queue later. */
		delay: fc.nat({ max: 6 }),
	});

	async function stopped({ script, execution, at, delay }: Stop, reason: "interrupt" | "suspend") {
		let mark: { readonly trace: number; readonly events: number } | undefined;
		const found = await driven(
			script,
			(run, events, trace) => {
				if (events.length !== at + 1) return;
				const stop = (): void => {
					run.stop(reason);
					mark ??= { trace: trace.length, events: events.length };
				};
				if (delay === 0) return stop();
				let turn = Promise.resolve();
				for (let left = delay; left > 1; left--) turn = turn.then(() => {});
				void turn.then(stop);
			},
			execution,
		);
		await atRest();
		return { ...found, mark };
	}

	test("interrupt: everything settles, nothing else starts, no call stays without a result [UAP-120]", async () => {
		let aborted = 0;
		await fc.assert(
			fc.asyncProperty(cases, async (given) => {
				const { run, outcome, events, trace, signals, mark } = await stopped(given, "interrupt");
				expect(faultsOfHistory(run.state.agent.messages)).toEqual([]);
				expect(run.state.run?.unsettled).toBe(0);
				if (mark === undefined) return;
				expect(trace.slice(mark.trace)).toEqual([]);
				const emitted = events.slice(mark.events).map((event) => event.type);
				// Events of one commit are all emitted, even if a watcher stops the run at the first one.
				const starts = given.delay === 0 ? [] : ["tool_start"];
				for (const type of ["step_start", "model_start", "model", "tool_delta", ...starts]) {
					expect(emitted).not.toContain(type);
				}
				expect(signals.every((signal) => signal.aborted)).toBe(true);
				if (outcome.kind !== "ended" || outcome.outcome !== "aborted") {
					expect(outcome).toEqual({ kind: "ended", outcome: "completed" });
					return;
				}
				aborted++;
				expect(faultsOfEvents(events, "cut")).toEqual([]);
			}),
			{ numRuns: 600 },
		);
		expect(aborted).toBeGreaterThan(100);
	});

	test("suspend: the run stays open, and the model's text is kept with its calls", async () => {
		await fc.assert(
			fc.asyncProperty(cases, async (given) => {
				const { run, outcome, trace, mark } = await stopped(given, "suspend");
				if (mark === undefined || outcome.kind === "ended") return;
				expect(outcome).toEqual({ kind: "left", reason: "suspended" });
				expect(trace.slice(mark.trace)).toEqual([]);
				expect(run.state.run?.status).toBe("running");
				const said = run.state.agent.messages.filter((message) => message.type === "assistant").length;
				expect(said).toBe(run.state.run?.cycles);
			}),
			{ numRuns: 30 },
		);
	});
});

test("evolve depends only on its arguments: no clock, no randomness, no ids", () => {
	const source = readFileSync(new URL("../facts/evolve.ts", import.meta.url), "utf8");
	expect(source).not.toMatch(/Date\.now|new Date\(\)|Math\.random|randomUUID|performance/);
});

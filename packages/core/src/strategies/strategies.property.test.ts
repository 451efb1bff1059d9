// Random scripts of models and tools under every strategy: watching changes nothing, and the journal is the state.

import type { ScriptedReply } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect, contentOf, withoutIdentity } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import { type AgentOptions, resolveAgent } from "../agent/options.ts";
import { atRest, faultsOfHistory, scriptedOptions, scripts } from "../engine/engine.fixture.ts";
import { foldOptions } from "../engine/fold-options.ts";
import { evolve } from "../facts/evolve.ts";
import { initialSession, type SessionState } from "../facts/session-state.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import type { PlanStep } from "../state/plan-step.ts";
import type { DecidingStrategy, ExecutionStrategy } from "./execution-strategy.ts";
import { loop } from "./loop.ts";
import { plan } from "./plan.ts";
import { react } from "./react.ts";

interface Case {
	readonly execution: DecidingStrategy;
	readonly script: readonly ScriptedReply[];
	readonly stopAfter: number;
}

const ids = ["a", "b", "c", "d"];
/** Mostly valid plans, and some that cannot be executed. */
const plans: fc.Arbitrary<ScriptedReply> = fc
	.array(
		fc.record({
			id: fc.constantFrom(...ids),
			description: fc.constant("does it"),
			tool: fc.constantFrom(undefined, "value", "throws", "gone"),
			dependsOn: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.subarray(ids)),
		}),
		{ maxLength: 4 },
	)
	.map((steps) => ({ text: JSON.stringify({ steps }), data: { steps } }));
const down = fc.constant<ScriptedReply>({ text: "half a", error: new Error("the model is down") });
const replies = fc.tuple(scripts, plans, fc.option(down, { freq: 4 })).map(([rounds, made, failure]) => {
	const said = failure === null ? rounds : [...rounds.slice(0, 2), failure, ...rounds.slice(2)];
	return [made, ...said, made, ...said];
});
const limit = fc.constantFrom(1, 2, 3);
const cases: fc.Arbitrary<Case> = fc.record({
	execution: fc.oneof(
		fc.constantFrom(loop(), react(), plan(), plan({ allowReplan: false })),
		limit.map((maxIterations) => loop({ maxIterations })),
		limit.map((maxSteps) => react({ maxSteps })),
		limit.map((maxPlanSteps) => plan({ maxPlanSteps })),
	),
	script: replies,
	stopAfter: fc.constantFrom(1, 2, 3, 8),
});

interface Hook {
	readonly hook: string;
	readonly state: unknown;
}

/** Options of a case; its hooks log their arguments. Replanning is unlimited, so everything is stopped at some point. */
function optionsOf(
	{ execution, script, stopAfter }: Case,
	hooks: Hook[] = [],
	other?: ExecutionStrategy,
): AgentOptions {
	const note = (hook: string) => (_: number, it: { state: AgentState } | unknown) =>
		void hooks.push({
			hook,
			state:
				it instanceof AgentState
					? contentOf(it)
					: hook === "end"
						? contentOf((it as { state: AgentState }).state)
						: it,
		});
	return {
		...scriptedOptions(script, [], [], execution),
		...(other === undefined ? {} : { execution: other }),
		strategy: {
			onStepStart: note("start"),
			onReason: note("reason"),
			onAct: note("act"),
			onObserve: note("observe"),
			onStepEnd: note("end"),
			stopCondition: (state) => {
				hooks.push({ hook: "stop?", state: contentOf(state) });
				return state.step >= stopAfter;
			},
			onComplete: ({ state }) => void hooks.push({ hook: "complete", state: contentOf(state) }),
			onError: (error, state) => void hooks.push({ hook: `error ${error}`, state: contentOf(state) }),
		},
	};
}

/** The outcome of a call: its content, or its error. */
async function outcomeOf(
	result: Promise<{ turn: { messages: readonly never[] }; state: AgentState }>,
): Promise<unknown> {
	try {
		const { turn, state } = await result;
		expect(faultsOfHistory(state.messages)).toEqual([]);
		return { messages: withoutIdentity(turn.messages), state: contentOf(state) };
	} catch (error) {
		return String(error);
	}
}

describe("any script under any strategy", () => {
	test("ends the same in stream() as in generate(), and calls the same hooks [UAP-124] [UAP-126]", async () => {
		await fc.assert(
			fc.asyncProperty(cases, async (given) => {
				const [generated, streamed, through]: [Hook[], Hook[], Hook[]] = [[], [], []];
				const expected = await outcomeOf(agent({ ...optionsOf(given, generated) }).generate("go") as never);
				const stream = agent({ ...optionsOf(given, streamed) }).stream("go");
				await collect(stream).catch(() => {});
				expect(await outcomeOf(stream.result as never)).toEqual(expected);
				expect(streamed).toEqual(generated);
				// When called by a custom strategy, the result is the same.
				const custom: ExecutionStrategy = {
					name: "through",
					execute: (context) => given.execution.execute(context),
					stream: (context) => given.execution.stream(context),
				};
				const called = await outcomeOf(
					agent({ ...optionsOf(given, through, custom) }).generate("go") as never,
				);
				expect(masked(called)).toEqual(masked(expected));
				// It passes the state that its own hooks last reported to onError.
				const ordinary = (hooks: Hook[]) => masked(hooks.filter(({ hook }) => !hook.startsWith("error")));
				expect(ordinary(through)).toEqual(ordinary(generated));
				await atRest();
			}),
			{ numRuns: 200 },
		);
	});

	test("leaves a journal that folds to the state of the run", async () => {
		await fc.assert(
			fc.asyncProperty(cases, async (given) => {
				const host = memoryHost();
				const options = optionsOf(given);
				const one = new Agent({ ...options, host } as ConstructorParameters<typeof Agent>[0]);
				const { state, outcome } = await (await one.session("k").send("go")).result();
				expect(["completed", "error"]).toContain(outcome);
				const fold = foldOptions(resolveAgent("agent", options));
				let folded: SessionState = initialSession(AgentState.initial());
				for (const entry of await host.journal.read("k")) folded = evolve(folded, entry, fold);
				expect(folded.agent.toJSON()).toEqual({ ...state.toJSON(), id: folded.agent.id });
				expect(faultsOfPlan(state.plan)).toEqual([]);
				await one.close();
			}),
			{ numRuns: 200 },
		);
	});
});

/** Without generated call ids. */
function masked(value: unknown): unknown {
	return JSON.parse(
		JSON.stringify(value).replaceAll(/00000000-0000-4000-8000-\d{12}|call_[0-9a-f]{14}/g, "id"),
	);
}

/** Returns the fault of a plan: a step that started before one of its dependencies was completed. */
function faultsOfPlan(steps: readonly PlanStep[] = []): string[] {
	const completed = new Set(steps.flatMap(({ id, status }) => (status === "completed" ? [id] : [])));
	return steps
		.filter(({ status, dependsOn }) => status !== "pending" && !dependsOn.every((id) => completed.has(id)))
		.map(({ id }) => `${id} began too early`);
}

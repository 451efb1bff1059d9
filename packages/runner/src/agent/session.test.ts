// A session: one run, its result, and the ways to end it.
import { inMemoryClient, type MemoryClient } from "@holdfast/memory";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import type {
	AgentConfig,
	AgentResult,
	Planner,
	PlannerState,
	PolicyDecision,
	PolicyQuestion,
	RunnerEvent,
	RunnerStep,
	RunnerTool,
} from "../contract/index.ts";
import { stepsPlanner } from "../loop/index.ts";
import { configured, deferred, echo, finish, hanging, made, use } from "./agent.fixture.ts";
import { RunnerAgent } from "./agent.ts";

/** A result as its planner's states saw it. */
function watching(plan: (state: PlannerState) => RunnerStep): {
	states: PlannerState[];
	planner: Planner;
} {
	const states: PlannerState[] = [];
	return {
		states,
		planner: {
			plan: (state) => {
				states.push(structuredClone({ ...state }));
				return plan(state);
			},
		},
	};
}

const inOrder = (...steps: RunnerStep[]) => watching(({ step }) => steps[step - 1] ?? finish);

describe("a session", () => {
	test("has its own id at once, and plans nothing before it runs [RUN-001]", async () => {
		const { states, planner } = inOrder(finish);
		const agent = made([], { planner });
		const [one, two] = [agent.createSession(), agent.createSession()];
		expect(one.id).not.toBe("");
		expect(one.id).not.toBe(two.id);
		await new Promise((resolve) => setImmediate(resolve));
		expect(states).toEqual([]);
		await one.run();
		expect(states).toHaveLength(1);
		expect(states[0]?.sessionId).toBe(one.id);
	});

	test("shares nothing with another concurrent one [RUN-002]", async () => {
		const signals: AbortSignal[] = [];
		const tool: RunnerTool = {
			id: "work",
			run: async (input, { rng, memory, signal, sessionId }) => {
				signals.push(signal);
				await memory.append("mine", sessionId);
				await new Promise((resolve) => setTimeout(resolve, 5));
				return { input, random: rng(), seen: await memory.read("mine") };
			},
		};
		const { states, planner } = watching(({ task, step }) =>
			step <= 2 ? use("work", `${task} ${step}`) : finish,
		);
		const agent = made([], { planner, tools: [tool] });
		const sessions = [
			agent.createSession({ task: "one", seed: 1 }),
			agent.createSession({ task: "two", seed: 1 }),
		];
		const [one, two] = (await Promise.all(sessions.map((each) => each.run()))) as [AgentResult, AgentResult];
		const outputs = (result: AgentResult) => result.actions?.slice(0, 2).map(({ output }) => output as never);
		const [first, second] = [outputs(one), outputs(two)] as {
			input: string;
			random: number;
			seen: string[];
		}[][];
		expect(first?.map(({ input }) => input)).toEqual(["one 1", "one 2"]);
		expect(second?.map(({ input }) => input)).toEqual(["two 1", "two 2"]);
		expect(first?.map(({ random }) => random)).toEqual(second?.map(({ random }) => random));
		expect(first?.[1]?.seen).toEqual([sessions[0]?.id, sessions[0]?.id]);
		expect(new Set(signals).size).toBe(4);
		for (const { sessionId, transcript } of states) {
			const mine = sessionId === sessions[0]?.id ? "one" : "two";
			expect(transcript.every(({ content }) => String(content).includes(mine))).toBe(true);
		}
		expect(states.map(({ step }) => step).toSorted()).toEqual([1, 1, 2, 2, 3, 3]);
	});

	test("is aborted alone: another concurrent one ends as usual [RUN-002]", async () => {
		const hang = hanging(true);
		const { promise, resolve } = deferred();
		const tools = [hang, { id: "slow", run: () => promise }];
		const agent = made(({ task, step }) => (step === 1 ? use(task) : finish), { tools });
		const [stuck, slow] = [agent.createSession({ task: "hang" }), agent.createSession({ task: "slow" })];
		const [aborted, other] = [stuck.run(), slow.run()];
		await hang.begun;
		stuck.abort();
		expect(await aborted).toMatchObject({ aborted: true });
		resolve();
		expect(await other).toMatchObject({ success: true, steps: 2 });
	});

	test("is one for each runOnce, and for each plain run() [RUN-003]", async () => {
		const { states, planner } = inOrder(finish);
		const agent = made([], { planner });
		const result = await agent.runOnce({ sessionId: "mine" });
		expect(result.sessionId).toBe("mine");
		const [one, two] = [await agent.run(), await agent.run()];
		expect(one).toMatchObject({ success: true, result: "done" });
		expect(one.sessionId).not.toBe(two.sessionId);
		expect((await agent.run({ sessionId: "other" })).sessionId).toBe("other");
		const planned = states.map(({ sessionId }) => sessionId);
		expect(planned).toEqual(["mine", one.sessionId, two.sessionId, "other"]);
	});

	test("runs once: a second run is rejected and changes nothing [RUN-005]", async () => {
		const { states, planner } = inOrder(use("echo"), finish);
		const session = made([], { planner }).createSession();
		const first = session.run();
		await expect(session.run()).rejects.toMatchObject({ code: "SESSION_ALREADY_RUN" });
		const result = await first;
		await expect(session.run()).rejects.toMatchObject({ code: "SESSION_ALREADY_RUN" });
		expect(states).toHaveLength(2);
		expect(result).toMatchObject({ success: true, steps: 2 });
	});
});

describe("failures are results", () => {
	const fatal: RunnerTool = { id: "fatal", run: () => Promise.reject(new Error("broken")) };
	const asking: Planner = { plan: (_, { callModel }) => callModel({ messages: [] }).then(() => finish) };
	const busy = Object.assign(new Error("busy"), { retriable: true });
	const cases: [string, Partial<AgentConfig>, string][] = [
		[
			"of a tool [RUN-004] [RUN-021]",
			{ tools: [fatal], planner: stepsPlanner([use("fatal")]) },
			"TOOL_FATAL",
		],
		[
			"of a planner [RUN-004] [RUN-038]",
			{ planner: stepsPlanner(() => Promise.reject(new Error("no idea"))) },
			"PLANNER_FAILED",
		],
		[
			"of a planner that gives no reason [RUN-021] [RUN-038]",
			{ planner: stepsPlanner(() => Promise.reject()) },
			"PLANNER_FAILED",
		],
		[
			"of a tool that gives no reason [RUN-021]",
			{ tools: [{ id: "mute", run: () => Promise.reject() }], planner: stepsPlanner([use("mute")]) },
			"TOOL_FATAL",
		],
		[
			"of steps [RUN-004]",
			{ maxSteps: 1, planner: stepsPlanner([{ type: "internal" }, finish]) },
			"STEPS_EXHAUSTED",
		],
		[
			"of models [RUN-004]",
			{ planner: asking, modelProviders: [{ call: () => Promise.reject(busy) }] },
			"MODEL_FAILED",
		],
		["of having no model [RUN-004]", { planner: asking }, "NO_PROVIDER"],
		[
			"of safety [RUN-004]",
			{ planner: stepsPlanner([use("echo")]), safety: { toolDenylist: ["echo"], safetyBudget: 0 } },
			"SAFETY_VIOLATION",
		],
		["of a plan that is over [RUN-045]", { planner: stepsPlanner([{ type: "internal" }]) }, "PLAN_EXHAUSTED"],
		[
			"of an unknown type [RUN-038]",
			{ planner: stepsPlanner([{ type: "dance" } as unknown as RunnerStep]) },
			"PLAN_INVALID",
		],
		["of no step [RUN-038]", { planner: stepsPlanner(() => null as unknown as RunnerStep) }, "PLAN_INVALID"],
		["of a step without a tool [RUN-038]", { planner: stepsPlanner([{ type: "tool" }]) }, "PLAN_INVALID"],
		[
			"of memory [RUN-040]",
			{
				planner: stepsPlanner([use("echo"), finish]),
				memoryClient: { ...inMemoryClient(), append: () => Promise.reject(new Error("full")) },
			},
			"MEMORY_FAILED",
		],
		[
			"of a reflector [RUN-021]",
			{
				planner: stepsPlanner([use("echo"), finish]),
				reflector: { reflect: () => Promise.reject(new Error("blank")) },
			},
			"REFLECTOR_FAILED",
		],
	];
	test.each(cases)("%s", async (_, more, code) => {
		let executed = 0;
		const tools = (more.tools ?? [echo]).map((tool) => ({
			...tool,
			run: (...given: Parameters<typeof tool.run>) => {
				executed++;
				return tool.run(...given);
			},
		}));
		const result = await made([], { ...more, tools }).runOnce();
		expect(result.success).toBe(false);
		expect(result.error?.code).toBe(code);
		expect(result.error?.message).toMatch(/./);
		expect(JSON.stringify(result.error)).not.toMatch(/\bat .*:\d+/);
		expect(result.result).toBeUndefined();
		if (code === "PLANNER_FAILED" || code === "PLAN_INVALID") expect(executed).toBe(0);
	});
});

test("an error has all its known data, if that is plain data [RUN-021]", async () => {
	for (const [data, known] of [
		[{ n: [1] }, { info: { n: [1] } }],
		[{ at: new Date(0) }, { info: { at: "1970-01-01T00:00:00.000Z" } }],
		[{ n: 1n }, {}],
	] as const) {
		const fails = () => Promise.reject(new HoldfastError("MINE", "no", { data }));
		const { error } = await made([], { planner: stepsPlanner(fails) }).runOnce();
		expect(error).toEqual({ code: "MINE", message: "no", ...known });
	}
});

describe("abort", () => {
	test.each([true, false])(
		"during a tool that receives it (%s) ends the run, and nothing starts afterwards [RUN-006] [RUN-008]",
		async (hears) => {
			const hang = hanging(hears);
			let others = 0;
			const other = { id: "other", run: () => ++others };
			const { states, planner } = inOrder(use("hang"), use("other"), finish);
			const agent = made([], { planner, tools: [hang, other], abortGraceMs: hears ? 600_000 : 50 });
			const session = agent.createSession();
			const running = session.run();
			await hang.begun;
			const began = performance.now();
			session.abort();
			const result = await running;
			expect(result).toMatchObject({ success: false, aborted: true, error: { code: "ABORTED" } });
			expect(hang.signals[0]?.aborted).toBe(true);
			expect([states.length, others]).toEqual([1, 0]);
			const took = performance.now() - began;
			if (hears) expect(took).toBeLessThan(60_000);
			else expect(took).toBeGreaterThan(45);
			expect(result.actions?.some(({ ok }) => ok)).toBe(false);
		},
	);

	test("gives a tool that ignores it one second by default [RUN-008]", async () => {
		const hang = { ...hanging(false), timeoutMs: Number.POSITIVE_INFINITY };
		const asked: number[] = [];
		const after = (milliseconds: number, wake: () => void) => {
			if (hang.signals[0]?.aborted === true) asked.push(milliseconds);
			const timer = setTimeout(wake, Math.min(milliseconds, 10));
			return () => clearTimeout(timer);
		};
		const session = made([use("hang")], { tools: [hang], ports: { timers: { after } } }).createSession();
		const running = session.run();
		await hang.begun;
		session.abort();
		expect((await running).aborted).toBe(true);
		expect(asked).toContain(1_000);
	});

	test("discards late output of a tool that was abandoned [RUN-008]", async () => {
		const { promise, resolve } = deferred<string>();
		const begun = deferred();
		const late: RunnerTool = {
			id: "late",
			run: () => {
				begun.resolve();
				return promise;
			},
		};
		const session = made([use("late"), finish], { tools: [late], abortGraceMs: 1 }).createSession();
		const running = session.run();
		await begun.promise;
		session.abort();
		const result = await running;
		const before = JSON.stringify(result);
		resolve("too late");
		await new Promise((done) => setImmediate(done));
		expect(JSON.stringify(result)).toBe(before);
		expect(before).not.toContain("too late");
	});

	test("during planning aborts the planner's signal [RUN-009]", async () => {
		const begun = deferred();
		let signal: AbortSignal | undefined;
		const planner: Planner = {
			plan: (_, context) => {
				signal = context.signal;
				begun.resolve();
				return new Promise(() => {});
			},
		};
		const session = made([], { planner }).createSession();
		const running = session.run();
		await begun.promise;
		session.abort();
		expect(await running).toMatchObject({ aborted: true, steps: 0 });
		expect(signal?.aborted).toBe(true);
	});

	test("before a run prevents planning; after its end, or again, it changes nothing [RUN-007]", async () => {
		const { states, planner } = inOrder(finish);
		const agent = made([], { planner });
		const early = agent.createSession();
		early.abort();
		early.abort();
		expect(await early.run()).toMatchObject({
			success: false,
			aborted: true,
			steps: 0,
			error: { code: "ABORTED" },
		});
		expect(states).toEqual([]);
		const session = agent.createSession();
		const result = await session.run();
		session.abort();
		session.abort();
		expect(result).toMatchObject({ success: true });
		expect(result.aborted).toBeUndefined();
	});
});

describe("the steps of a run", () => {
	test("a finish step calls no tool; its input takes precedence over its message [RUN-020] [RUN-022] [RUN-035]", async () => {
		expect(await made([{ type: "finish", input: 0, message: "no" }]).runOnce()).toMatchObject({
			result: 0,
			steps: 1,
		});
		const said = await made([{ type: "finish", message: "yes" }]).runOnce();
		expect(said).toMatchObject({ success: true, result: "yes", summary: "yes" });
		expect(said.error).toBeUndefined();
	});

	test("a finish step whose input is null ends with null, regardless of its message [RUN-020]", async () => {
		const result = await made([{ type: "finish", input: null, message: "no" }]).runOnce();
		expect(result).toMatchObject({ success: true, result: null });
		expect(result.summary).toBeUndefined();
	});

	test("the goal, once met after a reflection, ends the run with the last output [RUN-035]", async () => {
		const { states, planner } = inOrder(use("echo", 1), use("echo", 2), finish);
		const goalMet = ({ actions }: PlannerState) => actions.length === 2;
		const result = await made([], { planner, goalMet }).runOnce();
		expect(result).toMatchObject({ success: true, result: { said: 2 }, steps: 2 });
		expect(states).toHaveLength(2);
	});

	test("messages are added to the transcript, internal steps only to the scratchpad, and planning continues [RUN-037] [RUN-022]", async () => {
		let executed = 0;
		const toolExecutor = {
			execute: async () => {
				executed++;
				return { type: "tool" as const, ok: true, duration: 0 };
			},
		};
		const { states, planner } = inOrder(
			{ type: "message", message: "hello" },
			{ type: "internal", message: "think" },
			finish,
		);
		const result = await made([], { planner, toolExecutor }).runOnce();
		expect(states.at(-1)?.transcript).toEqual([{ role: "assistant", content: "hello" }]);
		expect(states.at(-1)?.scratchpad).toEqual(["think"]);
		expect(executed).toBe(0);
		expect(result.actions?.map(({ type }) => type)).toEqual(["message", "internal", "finish"]);
	});

	test("the next plan sees the result of the last action, and outputs in the role of tools [RUN-034]", async () => {
		const { states, planner } = inOrder(use("echo", { a: 1 }), finish);
		await made([], { planner }).runOnce();
		expect(states[1]?.lastResult).toMatchObject({
			type: "tool",
			toolId: "echo",
			ok: true,
			output: { said: { a: 1 } },
		});
		expect(states[1]?.transcript).toEqual([{ role: "tool", toolId: "echo", content: '{"said":{"a":1}}' }]);
	});

	test("each iteration plans, calls policy, acts and reflects, in this order [RUN-034]", async () => {
		const log: string[] = [];
		const planner = stepsPlanner(({ step }) => {
			log.push(`plan ${step}`);
			return step <= 2 ? use("work") : finish;
		});
		const check = ({ point }: PolicyQuestion): PolicyDecision => {
			if (point === "planner-output") log.push("check");
			return { action: "allow" };
		};
		const reflector = {
			reflect: async () => {
				log.push("reflect");
				return {};
			},
		};
		const tools: RunnerTool[] = [{ id: "work", run: () => void log.push("work") }];
		await made([], { planner, reflector, tools, safety: { policyEngine: { check } } }).runOnce();
		const iteration = ["check", "work", "reflect"];
		expect(log).toEqual(["plan 1", ...iteration, "plan 2", ...iteration, "plan 3", "check"]);
	});

	test("an unknown tool, or input that its schema rejects, is reported and planning continues [RUN-066]", async () => {
		let ran = 0;
		const typed: RunnerTool = {
			id: "typed",
			schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
			run: () => ++ran,
		};
		const { states, planner } = inOrder(
			use("nobody"),
			use("typed", { n: "x" }),
			use("typed", { n: 1 }),
			finish,
		);
		const result = await made([], { planner, tools: [typed] }).runOnce();
		expect(result.success).toBe(true);
		expect(states[1]?.lastResult).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
		expect(states[2]?.lastResult).toMatchObject({ ok: false, error: { code: "TOOL_INPUT_INVALID" } });
		expect(states[2]?.lastResult?.error?.message).toMatch(/: \$?\.?n\b/);
		expect(states[2]?.lastResult?.error?.info).toEqual({ paths: ["n"] });
		expect(ran).toBe(1);
	});

	test("reasons are not stored unless requested [RUN-041]", async () => {
		for (const more of [{}, { storeReasoning: false }, { storeReasoning: true }]) {
			const memoryClient = inMemoryClient();
			const steps: RunnerStep[] = [
				{ ...use("echo", 1), reason: "my secret thought" },
				{ ...finish, reason: "my secret thought" },
			];
			const result = await made(steps, { ...more, memoryClient }).runOnce({ sessionId: "s" });
			const kept = JSON.stringify([result, await memoryClient.read("s")]);
			expect(kept.includes("my secret thought")).toBe(more.storeReasoning === true);
		}
	});

	test("an injected executor gets the steps that policy allows and a context, and its results are in the actions [RUN-043]", async () => {
		const seen: unknown[] = [];
		const toolExecutor: AgentConfig["toolExecutor"] = {
			async execute(step, context) {
				seen.push(
					step,
					Object.keys(context)
						.filter((name) => ["sessionId", "signal", "rng", "clock", "memory"].includes(name))
						.toSorted(),
				);
				return { type: "tool", toolId: step.toolId as string, ok: true, output: "by me", duration: 1 };
			},
		};
		const steps = [use("denied", 1), use("elsewhere", 1), finish];
		const safety = { toolDenylist: ["denied"] };
		const result = await made(steps, { toolExecutor, safety }).runOnce();
		expect(seen).toEqual([use("elsewhere", 1), ["clock", "memory", "rng", "sessionId", "signal"]]);
		expect(result.actions?.[1]).toMatchObject({
			type: "tool",
			toolId: "elsewhere",
			ok: true,
			output: "by me",
		});
		const error = { code: "MINE", message: "no" };
		const failing = { execute: async () => ({ type: "tool" as const, ok: false, error, duration: 0 }) };
		const failed = await made([use("elsewhere"), finish], { toolExecutor: failing }).runOnce();
		expect(failed.actions?.[0]).toMatchObject({ toolId: "elsewhere", ok: false, error });
	});

	test("a plan given as a list is followed in order, one given as a function gets the state [RUN-045]", async () => {
		const said = async (planner: Planner) =>
			(await made([], { planner }).runOnce()).actions?.map(({ output }) => output);
		const step = (message: string): RunnerStep => ({ type: "message", message });
		expect(await said(stepsPlanner([step("1"), step("2"), finish]))).toEqual(["1", "2", "done"]);
		const follows = stepsPlanner(({ transcript }) =>
			transcript.length < 2 ? step(`${transcript.length}`) : finish,
		);
		expect(await said(follows)).toEqual(["0", "1", "done"]);
	});

	test("a planner and a reflector given as objects replace the built-in ones [RUN-042]", async () => {
		const { states, planner } = inOrder(use("echo", 1), finish);
		const reflector = {
			reflect: (_: PlannerState, { output }: { output?: unknown }) => ({ note: JSON.stringify(output) }),
		};
		const result = await made([], { planner, reflector }).runOnce();
		expect(states[1]?.scratchpad).toEqual(['{"said":1}']);
		expect(Object.keys(result)).toEqual(Object.keys(await made([use("echo", 1), finish]).runOnce()));
	});
});

test("a run that uses up its steps ends with STEPS_EXHAUSTED, and stops planning [RUN-036] [RUN-022]", async () => {
	const { states, planner } = inOrder(...Array.from({ length: 9 }, (): RunnerStep => use("echo", 1)));
	const result = await made([], { planner, maxSteps: 3 }).runOnce();
	expect(result).toMatchObject({ success: false, steps: 3, error: { code: "STEPS_EXHAUSTED" } });
	expect(states).toHaveLength(3);
	expect(result.actions).toHaveLength(3);
	expect(result.actions?.[0]).toEqual({
		type: "tool",
		toolId: "echo",
		input: 1,
		output: { said: 1 },
		ok: true,
		duration: expect.any(Number),
		attempts: 1,
	});
});

describe("memory", () => {
	test("entries of the context are available in the first plan; an unknown stream has none [RUN-039]", async () => {
		const memoryClient = inMemoryClient();
		await memoryClient.append("past", { fact: 1 });
		await memoryClient.append("past", { fact: 2 });
		const memoryOf = async (options: object) => {
			const { states, planner } = inOrder(finish);
			await made([], { planner, memoryClient }).runOnce(options);
			return states[0]?.memory;
		};
		expect(await memoryOf({ contextKey: "past" })).toEqual([{ fact: 1 }, { fact: 2 }]);
		expect(await memoryOf({ contextKey: "unknown" })).toEqual([]);
		expect(await memoryOf({})).toEqual([]);
	});

	test("has each output before the next plan [RUN-040] [RUN-027]", async () => {
		const memoryClient = inMemoryClient();
		const read: unknown[] = [];
		const planner: Planner = {
			async plan({ step, sessionId }) {
				read.push(await memoryClient.read(sessionId));
				return step === 1 ? use("echo", 1) : finish;
			},
		};
		const result = await made([], { planner, memoryClient }).runOnce();
		expect(read).toEqual([[], [{ said: 1 }]]);
		expect(result.memoryDeltas).toEqual([
			{ store: "memory", operation: "append", key: result.sessionId, value: { said: 1 } },
		]);
		expect(await memoryClient.read(result.sessionId as string)).toEqual([{ said: 1 }]);
	});

	test("can lack search and clear; calls to them are rejected, and the rest works [RUN-095]", async () => {
		const { append, read } = inMemoryClient();
		const look: RunnerTool = {
			id: "look",
			async run(_, { memory }) {
				await memory.append("s", 1);
				const asked = [memory.search?.("x"), memory.clear?.("s")];
				const settled = await Promise.all(asked.map((each) => each?.catch((error) => error.code)));
				return [...settled, await memory.read("s")];
			},
		};
		const agent = made([use("look"), finish], { tools: [look], memoryClient: { append, read } });
		const result = await agent.runOnce();
		expect(result.success).toBe(true);
		expect(result.actions?.[0]?.output).toEqual(["MEMORY_UNSUPPORTED", "MEMORY_UNSUPPORTED", [1]]);
	});

	test("lists its changes in order, without those that failed [RUN-027]", async () => {
		const full = (name: string) => (name === "full" ? Promise.reject(new Error("full")) : undefined);
		const databaseClient = { write: async (name: string) => full(name), read: vi.fn(), query: vi.fn() };
		const inner = inMemoryClient();
		const append: MemoryClient["append"] = async (...given) => full(given[0]) ?? inner.append(...given);
		const write: RunnerTool = {
			id: "write",
			run: async (_, { memory, database }) => {
				await memory.append("notes", "a");
				await memory.append("full", "b").catch(() => {});
				await database?.write("full", "k", 1).catch(() => {});
				await database?.write("facts", "k", 2);
				await memory.clear?.("notes");
				return "wrote";
			},
		};
		const listed = async (tool: RunnerTool, more: Partial<AgentConfig>) =>
			(await made([use("write"), finish], { tools: [tool], ...more }).runOnce({ sessionId: "s" }))
				.memoryDeltas;
		const ofLoop = { store: "memory", operation: "append", key: "s", value: "wrote" };
		expect(await listed(write, { databaseClient, memoryClient: { ...inner, append } })).toEqual([
			{ store: "memory", operation: "append", key: "notes", value: "a" },
			{ store: "database", operation: "write", key: "facts/k", value: 2 },
			{ store: "memory", operation: "clear", key: "notes" },
			ofLoop,
		]);
		const idle = { ...write, run: () => "wrote" };
		expect(await listed(idle, {})).toEqual([ofLoop]);
		const failing = { ...inner, append: () => Promise.reject(new Error("full")) };
		expect(await listed(idle, { memoryClient: failing })).toEqual([]);
	});

	test("of a session is empty each time; one that is given keeps its contents [RUN-018]", async () => {
		const counting: RunnerTool = {
			id: "count",
			run: async (_, { memory }) => {
				await memory.append("n", 1);
				return (await memory.read("n")).length;
			},
		};
		const counts = async (more: Partial<AgentConfig>) => {
			const agent = made([use("count"), finish], { tools: [counting], ...more });
			const results = [await agent.runOnce(), await agent.runOnce()];
			return results.map(({ actions }) => actions?.[0]?.output);
		};
		expect(await counts({})).toEqual([1, 1]);
		expect(await counts({ memoryClient: inMemoryClient() })).toEqual([1, 2]);
	});

	test("is the only storage: a tool has a database only if one is given [RUN-018]", async () => {
		const asks: RunnerTool = { id: "ask", run: (_, { database }) => database !== undefined };
		const databaseClient = { write: async () => {}, read: async () => null, query: async () => [] };
		for (const more of [{}, { databaseClient }]) {
			const { actions, memoryDeltas } = await made([use("ask"), finish], {
				tools: [asks],
				...more,
			}).runOnce();
			expect(actions?.[0]?.output).toBe("databaseClient" in more);
			expect(memoryDeltas?.map(({ store }) => store)).toEqual(["memory"]);
		}
	});
});

describe("a result", () => {
	test("has its own id, times in order, and survives JSON [RUN-019] [RUN-031]", async () => {
		const agent = made([use("echo"), use("echo"), finish]);
		const [one, two] = [await agent.runOnce(), await agent.runOnce()];
		expect(new Set([one.id, two.id, one.sessionId, two.sessionId]).size).toBe(4);
		expect(JSON.parse(JSON.stringify(one))).toStrictEqual({ ...one });
		expect([one.success, (await made([]).runOnce()).success]).toEqual([true, false]);
		for (const time of [one.startedAt, one.finishedAt]) expect(new Date(time).toISOString()).toBe(time);
		expect(Date.parse(one.finishedAt) - Date.parse(one.startedAt)).toBe(one.metrics?.durationMs);
		expect(one.metrics?.durationMs).toBeGreaterThanOrEqual(0);
		expect(Object.keys(one.metrics?.toolLatencyMs ?? {})).toEqual(["echo"]);
	});

	test("is marked as aborted only if it was [RUN-033]", async () => {
		const session = made([finish]).createSession();
		session.abort();
		expect((await session.run()).aborted).toBe(true);
		for (const steps of [[finish], []]) expect(await made(steps).runOnce()).not.toHaveProperty("aborted");
	});

	test("ends no earlier than it started, even if the clock is set back [RUN-019]", async () => {
		let now = 1_000_000;
		const clock = { now: () => --now, monotonic: () => 0 };
		const { startedAt, finishedAt, metrics } = await made([finish], { ports: { clock } }).runOnce();
		expect([finishedAt, metrics?.durationMs]).toEqual([startedAt, 0]);
	});

	test("has the events inline, in order [RUN-026]", async () => {
		const { eventStream } = await made([use("echo"), finish]).runOnce();
		expect((eventStream as readonly RunnerEvent[]).map(({ type }) => type)).toEqual([
			...["run.start", "run.begin", "step.start", "plan", "tool.call", "tool.result", "reflect", "memory"],
			...["step.start", "plan", "run.end"],
		]);
	});

	test("counts retries, and has the last failure; without any it has none [RUN-030]", async () => {
		let calls = 0;
		const flaky: RunnerTool = {
			id: "flaky",
			retry: { baseDelayMs: 0 },
			run: () => {
				if (++calls % 3 > 0) throw Object.assign(new Error(`failure ${calls}`), { retriable: true });
				return 1;
			},
		};
		const result = await made([use("flaky"), finish], { tools: [flaky] }).runOnce();
		expect(result.retryInfo).toEqual({ attempts: 2, lastError: "failure 2" });
		calls = 1;
		const once = await made([use("flaky"), finish], { tools: [flaky] }).runOnce();
		expect(once.retryInfo).toEqual({ attempts: 1, lastError: "failure 2" });
		calls = 0;
		const twice = await made([use("flaky"), use("flaky"), finish], { tools: [flaky] }).runOnce();
		expect(twice.retryInfo).toEqual({ attempts: 4, lastError: "failure 5" });
		expect((await made([finish]).runOnce()).retryInfo).toBeUndefined();
	});

	test("keeps attachments of tools; a repeated name keeps the later one and warns [RUN-032]", async () => {
		const attach: RunnerTool = {
			id: "attach",
			run: (input) => ({ ok: true, output: 1, meta: { attachments: input as Record<string, string> } }),
		};
		const steps = [use("attach", { a: "1", b: "2" }), use("attach", { a: "3", no: 4 }), finish];
		const result = await made(steps, { tools: [attach] }).runOnce();
		expect(result.attachments).toEqual({ a: "3", b: "2" });
		expect(result.diagnostics?.warnings).toHaveLength(1);
		expect(result.diagnostics?.warnings?.[0]).toContain('"a"');
	});
});

test("a durable run is in the journal of its host, and another agent over it reads the same", async () => {
	const { memoryHost } = await import("holdfast");
	const host = memoryHost();
	const config = configured([use("echo", 1), finish], { host });
	const result = await new RunnerAgent(config).runOnce({ sessionId: "s" });
	const kinds = (await host.journal.read("s")).map(({ fact }) => fact.kind);
	expect(result.success).toBe(true);
	expect(kinds).toEqual([
		...[
			"run.started",
			"input",
			"decision",
			"decision",
			"tools.requested",
			"tool.started",
			"tool.settled",
			"decision",
		],
		...["decision", "assistant", "run.ended"],
	]);
});

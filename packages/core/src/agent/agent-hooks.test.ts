import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import type { Middleware } from "../policy/middleware/middleware-face.ts";
import { AgentState } from "../state/agent-state.ts";
import type { GenerateResult } from "../state/generate-result.ts";
import type { ExecutionContext } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool, collect, dataOf, lines } from "./agent.fixture.ts";
import { type Agent, agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

const initial = AgentState.initial();
const twoRounds: readonly (string | ScriptedReply)[] = [
	{ toolCalls: [{ name: "echo", arguments: { text: "a" } }] },
	{ toolCalls: [{ name: "echo", arguments: { text: "b" } }, { name: "fail" }] },
	"Done.",
];

/** Logs which hook was called with which step. */
function recordingHooks(log: unknown[]): Required<Omit<AgentStrategy, "onReason" | "onError">> {
	return {
		onStepStart: (step, state) => void log.push(["onStepStart", step, state.step]),
		onAct: (step, actions) => void log.push(["onAct", step, actions.map((call) => call.toolName)]),
		onObserve: (step, results) => void log.push(["onObserve", step, results.map((each) => each.isError)]),
		onStepEnd: (step, { state }) => void log.push(["onStepEnd", step, state.step]),
		stopCondition: (state) => {
			log.push(["stopCondition", state.step]);
			return false;
		},
		onComplete: ({ state }) => void log.push(["onComplete", state.step]),
	};
}

function failingTools(log: unknown[] = []) {
	return [
		anyTool("echo", ({ text }) => {
			log.push(["run", text]);
			return text;
		}),
		anyTool("fail", () => {
			log.push(["run", "fail"]);
			throw new Error("it broke");
		}),
	];
}

describe("an agent's lifecycle hooks", () => {
	const expected = [
		["onStepStart", 1, 1],
		["onAct", 1, ["echo"]],
		["run", "a"],
		["onObserve", 1, [false]],
		["onStepEnd", 1, 1],
		["stopCondition", 1],
		["onStepStart", 2, 2],
		["onAct", 2, ["echo", "fail"]],
		["run", "b"],
		["run", "fail"],
		["onObserve", 2, [false, true]],
		["onStepEnd", 2, 2],
		["stopCondition", 2],
		["onStepStart", 3, 3],
		["onStepEnd", 3, 3],
		["stopCondition", 3],
		["onComplete", 3],
	];

	test("in loop() they are called once for each model call with its tools, numbered 1, 2, 3 [UAP-032]", async () => {
		const log: unknown[] = [];
		const one = agent({
			model: scriptedModel(twoRounds),
			tools: failingTools(log),
			strategy: recordingHooks(log),
		});
		await one.generate("go", initial);
		expect(log).toEqual(expected);
	});

	test("in stream() they are called as in generate(), with the same arguments [UAP-126]", async () => {
		const calls = async (way: "generate" | "stream"): Promise<unknown[]> => {
			const log: unknown[] = [];
			const { stopCondition, ...hooks } = recordingHooks(log);
			const strategy = {
				...hooks,
				stopCondition: (state: AgentState) => stopCondition(state) || state.step === 2,
			};
			const toolStrategy: AgentOptions["toolStrategy"] = {
				onToolCall: (tool, params) => void log.push(["onToolCall", tool.name, params]),
				onBeforeCall: (tool, params) => {
					log.push(["onBeforeCall", tool.name, params]);
					return true;
				},
				onAfterCall: (tool, params, result) => void log.push(["onAfterCall", tool.name, params, result]),
				onError: (tool, params, error) => void log.push(["onError", tool.name, params, error.message]),
			};
			const one = agent({
				model: scriptedModel(twoRounds),
				tools: failingTools(log),
				strategy,
				toolStrategy,
			});
			await (way === "generate" ? one.generate("go", initial) : one.stream("go", initial).result);
			return log;
		};
		const generated = await calls("generate");
		expect(generated.length).toBeGreaterThan(15);
		expect(await calls("stream")).toEqual(generated);
	});

	test("a limit ends stream() as it ends generate() [UAP-126]", async () => {
		const make = () =>
			agent({ model: scriptedModel(twoRounds), tools: failingTools(), toolStrategy: { maxIterations: 1 } });
		const error = await make()
			.generate("go", initial)
			.catch((thrown: UPPError) => thrown);
		const stream = make().stream("go", initial);
		const streamed = await stream.result.catch((thrown: UPPError) => thrown);
		expect(error).toBeInstanceOf(UPPError);
		expect(streamed).toMatchObject({ code: (error as UPPError).code, message: (error as UPPError).message });
	});

	test("stopCondition is asked once after every step, after onStepEnd, and true ends the run [UAP-041]", async () => {
		const log: unknown[] = [];
		const model = scriptedModel(() => ({ toolCalls: [{ name: "echo", arguments: { text: "again" } }] }));
		const strategy: AgentStrategy = {
			onStepEnd: (step) => void log.push(["onStepEnd", step]),
			stopCondition: (state) => {
				log.push(["stopCondition", state.step, lines(state.messages).length]);
				return state.step === 2;
			},
		};
		const { turn, state } = await agent({ model, tools: failingTools(), strategy }).generate("go", initial);
		expect(log).toEqual([
			["onStepEnd", 1],
			["stopCondition", 1, 3],
			["onStepEnd", 2],
			["stopCondition", 2, 5],
		]);
		expect(model.requests).toHaveLength(2);
		expect(turn.response.hasToolCalls).toBe(true);
		expect(lines(state.messages).at(-1)).toBe("results: again");
	});

	test("steps count from 1 again in the next call, which has the whole limit [UAP-042]", async () => {
		const model = scriptedModel(() => ({ toolCalls: [{ name: "echo" }] }));
		const steps: number[] = [];
		const strategy: AgentStrategy = { onStepStart: (step) => void steps.push(step) };
		const one = agent({ model, tools: failingTools(), execution: loop({ maxIterations: 2 }), strategy });
		const first = await one.generate("go", initial);
		const second = await one.generate("on", first.state);
		expect(steps).toEqual([1, 2, 1, 2]);
		expect([first.state.step, second.state.step]).toEqual([2, 2]);
	});

	test("stopCondition may return a promise: false continues, true stops [UAP-105]", async () => {
		const steps = async (stopAt: number): Promise<number> => {
			const strategy: AgentStrategy = { stopCondition: async (state) => state.step === stopAt };
			const model = scriptedModel(twoRounds);
			return (await agent({ model, tools: failingTools(), strategy }).generate("go", initial)).state.step;
		};
		expect(await steps(99)).toBe(3);
		expect(await steps(1)).toBe(1);
	});

	test("onAct gets the calls before they run, onObserve the results with name, arguments and duration [UAP-106]", async () => {
		const log: unknown[] = [];
		const strategy: AgentStrategy = {
			onAct: (_, actions) => void log.push(actions),
			onObserve: (_, observations) => void log.push(observations),
		};
		const script = [
			{
				toolCalls: [
					{ name: "echo", arguments: { text: "b" }, id: "c1" },
					{ name: "fail", id: "c2" },
				],
			},
			"Done.",
		];
		await agent({ model: scriptedModel(script), tools: failingTools(log), strategy }).generate("go", initial);
		expect(log).toEqual([
			[
				{ toolCallId: "c1", toolName: "echo", arguments: { text: "b" } },
				{ toolCallId: "c2", toolName: "fail", arguments: {} },
			],
			["run", "b"],
			["run", "fail"],
			[
				{
					toolCallId: "c1",
					result: "b",
					isError: false,
					toolName: "echo",
					arguments: { text: "b" },
					duration: expect.any(Number),
				},
				{
					toolCallId: "c2",
					result: "it broke",
					isError: true,
					toolName: "fail",
					arguments: {},
					duration: expect.any(Number),
				},
			],
		]);
	});

	test("onStepEnd gets the turn and a state that holds the step's messages and number [UAP-107]", async () => {
		const seen: unknown[] = [];
		const strategy: AgentStrategy = {
			onStepEnd: (step, { turn, state }) =>
				void seen.push([step, state.step, lines(state.messages), lines(turn.messages), turn.response.text]),
		};
		const script = [{ text: "Hm.", toolCalls: [{ name: "echo", arguments: { text: "a" } }] }, "Done."];
		await agent({ model: scriptedModel(script), tools: failingTools(), strategy }).generate("go", initial);
		const first = ["user: go", "assistant: Hm. [echo]", "results: a"];
		const second = [...first, "assistant: Done."];
		expect(seen).toEqual([
			[1, 1, first, first, "Hm."],
			[2, 2, second, second, "Done."],
		]);
	});

	test("onComplete is called once with the result, and not after an error [UAP-108]", async () => {
		const completed: GenerateResult[] = [];
		const strategy: AgentStrategy = { onComplete: (result) => void completed.push(result) };
		const result = await agent({ model: scriptedModel(["hi"]), strategy }).generate("go", initial);
		expect(completed).toEqual([result]);
		const failing = agent({ model: scriptedModel([{ error: new Error("down") }]), strategy });
		await expect(failing.generate("go", initial)).rejects.toThrow("down");
		expect(completed).toHaveLength(1);
	});

	test.each(["generate", "stream", "a custom strategy"] as const)(
		"onComplete gets the caller's result, after every middleware, and is not called if one throws, by %s [UAP-108]",
		async (way) => {
			const log: unknown[] = [];
			const rescue = await agent({ model: scriptedModel(["rescued"]) }).generate("help", initial);
			const completed: GenerateResult[] = [];
			const custom = {
				name: "custom",
				execute: async (context: ExecutionContext) => {
					const result = await loop().execute(context);
					context.strategy.onComplete?.(result);
					return result;
				},
				stream: (context: ExecutionContext) => loop().stream(context),
			};
			const make = (...middleware: Middleware[]) =>
				agent({
					model: scriptedModel(["hi"]),
					middleware,
					strategy: {
						onComplete(result) {
							log.push("complete");
							completed.push(result);
						},
					},
					...(way === "a custom strategy" ? { execution: custom } : {}),
				});
			const call = (one: Agent) =>
				way === "stream" ? one.stream("go", initial).result : one.generate("go", initial);
			const replacing: Middleware = {
				name: "replacing",
				async after(_, { state }) {
					await new Promise((resolve) => setImmediate(resolve));
					log.push("after");
					return { ...rescue, state: state.withMetadata("replaced", true) };
				},
			};
			const replaced = await call(make(replacing));
			expect(log).toEqual(["after", "complete"]);
			expect(completed).toEqual([replaced]);
			expect(completed[0]?.turn).toBe(rescue.turn);
			expect(completed[0]?.state.metadata.replaced).toBe(true);
			const throwing: Middleware = {
				name: "throwing",
				after() {
					throw new Error("not like that");
				},
			};
			await expect(call(make(throwing))).rejects.toThrow("not like that");
			expect(completed).toHaveLength(1);
			const rescuing: Middleware = { name: "rescuing", onError: () => rescue };
			expect(await call(make(rescuing, throwing))).toBe(rescue);
			expect(completed).toEqual([replaced, rescue]);
		},
	);

	test("onComplete of a session's turn gets the result after middleware, and is not called if one throws [UAP-108]", async () => {
		const completed: string[] = [];
		const rescue = await agent({ model: scriptedModel(["replaced"]) }).generate("help", initial);
		for (const after of [
			() => rescue,
			() => {
				throw new Error("not like that");
			},
		]) {
			const one = agent({
				model: scriptedModel(["hi"]),
				middleware: [{ name: "m", after }],
				strategy: { onComplete: ({ turn }) => void completed.push(turn.response.text) },
			});
			await (await one.send("go")).result();
			await one.close();
		}
		expect(completed).toEqual(["replaced"]);
	});

	test("the value that onError returns becomes the result; without one, the caller gets the error [UAP-109]", async () => {
		const error = new Error("down");
		const script = [twoRounds[0] as ScriptedReply, { error }];
		const rescue = await agent({ model: scriptedModel(["rescued"]) }).generate("help", initial);
		const seen: unknown[] = [];
		const make = (answer: unknown) =>
			agent({
				model: scriptedModel(script),
				tools: failingTools(),
				strategy: {
					onError: (thrown, state) => {
						seen.push([thrown, lines(state.messages), state.step]);
						return answer;
					},
				},
			});
		expect(await make(rescue).generate("go", initial)).toBe(rescue);
		const stream = make(rescue).stream("go", initial);
		await collect(stream);
		expect(await stream.result).toBe(rescue);
		await expect(make(undefined).generate("go", initial)).rejects.toBe(error);
		expect(seen).toEqual(Array(3).fill([error, ["user: go", "assistant:  [echo]", "results: a"], 1]));
	});

	test("stopCondition sees metadata set before the call in every step of loop() [UAP-110]", async () => {
		const seen: unknown[] = [];
		const strategy: AgentStrategy = {
			stopCondition: (state) => {
				seen.push(state.metadata.startTime);
				return state.metadata.taskComplete === true;
			},
		};
		const one = () => agent({ model: scriptedModel(twoRounds), tools: failingTools(), strategy });
		const begun = initial.withMetadata("startTime", 42);
		expect((await one().generate("go", begun)).state.step).toBe(3);
		expect(seen).toEqual([42, 42, 42]);
		expect((await one().generate("go", begun.withMetadata("taskComplete", true))).state.step).toBe(1);
	});

	test("usage is summed over all model calls: in the turn, the state and step_end [UAP-111]", async () => {
		const usage = (n: number) => ({
			inputTokens: n,
			outputTokens: 2 * n,
			totalTokens: 3 * n,
			cacheReadTokens: n,
		});
		const script = [1, 10, 100].map((n) => ({
			...(n < 100 ? { toolCalls: [{ name: "echo" }] } : { text: "Done." }),
			usage: usage(n),
		}));
		const seen: unknown[] = [];
		const strategy: AgentStrategy = {
			stopCondition: (state) => {
				seen.push(state.usage);
				return false;
			},
		};
		const stream = agent({ model: scriptedModel(script), tools: failingTools(), strategy }).stream(
			"go",
			initial,
		);
		const ends = dataOf(await collect(stream), "step_end");
		const { turn, state } = await stream.result;
		expect(turn.usage).toMatchObject(usage(111));
		expect(state.usage).toEqual(usage(111));
		expect(seen).toEqual([usage(1), usage(11), usage(111)]);
		expect(ends).toEqual([1, 11, 111].map((n) => ({ usage: usage(n) })));
	});
});

describe("hooks around each tool", () => {
	test("they are called around each execution with the caller's own tool, before onStepEnd [UAP-112]", async () => {
		const log: unknown[] = [];
		const tools = failingTools(log);
		const own = tools[0];
		const one = agent({
			model: scriptedModel([twoRounds[0] as ScriptedReply, "Done."]),
			tools,
			strategy: { onStepEnd: (step) => void log.push(["onStepEnd", step]) },
			toolStrategy: {
				onToolCall: (tool, params) => void log.push(["onToolCall", (tool as unknown) === own, params]),
				onBeforeCall: (tool, params) => {
					log.push(["onBeforeCall", (tool as unknown) === own, params]);
					return true;
				},
				onAfterCall: (tool, params, result) =>
					void log.push(["onAfterCall", (tool as unknown) === own, params, result]),
			},
		});
		await one.generate("go", initial);
		expect(log).toEqual([
			["onToolCall", true, { text: "a" }],
			["onBeforeCall", true, { text: "a" }],
			["run", "a"],
			["onAfterCall", true, { text: "a" }, "a"],
			["onStepEnd", 1],
			["onStepEnd", 2],
		]);
	});

	test("onBeforeCall returning false skips that tool only, and the model sees it [UAP-113]", async () => {
		const log: unknown[] = [];
		const model = scriptedModel([{ toolCalls: [{ name: "echo" }, { name: "other" }] }, "Done."]);
		const one = agent({
			model,
			tools: [...failingTools(log), anyTool("other", () => "other ran")],
			toolStrategy: { onBeforeCall: (tool) => tool.name !== "echo" },
		});
		const { turn } = await one.generate("go", initial);
		expect(log).toEqual([]);
		expect(turn.toolExecutions.map((each) => each.isError)).toEqual([true, false]);
		expect(lines(model.requests[1]?.messages ?? []).at(-1)).toBe(
			'results: The call of "echo" was skipped: it was not permitted.!, other ran',
		);
	});

	test("onBeforeCall may replace the parameters, and returning nothing continues", async () => {
		const answers = [{ proceed: true, params: { text: "replaced" } }, undefined, null];
		for (const answer of answers) {
			const { turn } = await agent({
				model: scriptedModel([twoRounds[0] as ScriptedReply, "Done."]),
				tools: failingTools(),
				toolStrategy: { onBeforeCall: () => answer as never },
			}).generate("go", initial);
			const text = answer?.params?.text ?? "a";
			expect(turn.toolExecutions[0]).toMatchObject({ arguments: { text }, result: text, isError: false });
		}
	});

	test("onAfterCall may replace the result", async () => {
		const { turn, state } = await agent({
			model: scriptedModel([twoRounds[0] as ScriptedReply, "Done."]),
			tools: failingTools(),
			toolStrategy: { onAfterCall: (_, __, result) => `${result}, replaced` },
		}).generate("go", initial);
		expect(turn.toolExecutions[0]?.result).toBe("a, replaced");
		expect(lines(state.messages)[2]).toBe("results: a, replaced");
	});

	test("a tool that throws is reported to onError, and onAfterCall is not called [UAP-114]", async () => {
		const log: unknown[] = [];
		const thrown = new TypeError("it broke");
		const tool = anyTool("fail", () => {
			throw thrown;
		});
		await agent({
			model: scriptedModel([{ toolCalls: [{ name: "fail", arguments: { a: 1 } }] }, "Done."]),
			tools: [tool],
			toolStrategy: {
				onAfterCall: () => void log.push("onAfterCall"),
				onError: (given, params, error) =>
					void log.push([(given as unknown) === tool, params, (error as unknown) === thrown]),
			},
		}).generate("go", initial);
		expect(log).toEqual([[true, { a: 1 }, true]]);
	});

	test("maxIterations counts over the whole run and ends it with INVALID_REQUEST [UAP-115]", async () => {
		for (const limit of [0, 1, 3]) {
			const model = scriptedModel(() => ({ toolCalls: [{ name: "echo" }] }));
			const reached: number[] = [];
			const runs: unknown[] = [];
			let last: AgentState = initial;
			const one = agent({
				model,
				tools: failingTools(runs),
				strategy: {
					onError: (_, state) => {
						last = state;
					},
				},
				toolStrategy: { maxIterations: limit, onMaxIterations: (n) => void reached.push(n) },
			});
			const error = await one.generate("go", initial).catch((thrown: unknown) => thrown);
			expect(error).toBeInstanceOf(UPPError);
			expect(error).toMatchObject({
				code: "INVALID_REQUEST",
				message: expect.stringContaining(`${limit} tool`),
			});
			expect(reached).toEqual([limit]);
			expect(runs).toHaveLength(limit);
			expect(lines(last.messages).at(-1)).toMatch(/^results: The limit of \d tool rounds .* is reached\.!$/);
		}
	});

	test("a call whose tool does not approve it does not run, and the execution records that", async () => {
		const ran: unknown[] = [];
		const approvals = [true, false, Promise.resolve(false)];
		const tool = anyTool("risky", () => ran.push("ran"), { approval: () => approvals.shift() as boolean });
		const calls = approvals.map(() => ({ name: "risky" }));
		const { turn } = await agent({
			model: scriptedModel([{ toolCalls: calls }, "Done."]),
			tools: [tool],
		}).generate("go", initial);
		expect(ran).toHaveLength(1);
		expect(turn.toolExecutions.map(({ approved, isError }) => [approved, isError])).toEqual([
			[true, false],
			[false, true],
			[false, true],
		]);
	});
});

describe("a hook that fails", () => {
	const places = ["onStepStart", "onAct", "onObserve", "onStepEnd", "stopCondition", "onComplete"] as const;
	const toolPlaces = ["onToolCall", "onBeforeCall", "onAfterCall", "onError"] as const;
	const ways: Record<string, (error: unknown) => never | Promise<never>> = {
		throwing: (error) => {
			throw error;
		},
		rejecting: (error) => Promise.reject(error),
		"rejecting later": async (error) => {
			await new Promise((resolve) => setImmediate(resolve));
			throw error;
		},
	};
	const script = [
		{ toolCalls: [{ name: "echo", arguments: { text: "a" } }, { name: "fail" }, { name: "slow" }] },
		"Done.",
	];
	const cases = [...places, ...toolPlaces].flatMap((place) =>
		Object.keys(ways).map((way) => [place, way] as const),
	);

	test.each(cases)(
		"in %s, %s: the run fails with that error, and every call has a result",
		async (place, way) => {
			for (const thrown of [new Error("from the hook"), undefined, null, Object.create(null)]) {
				const fail = (): never | Promise<never> => (ways[way] as (error: unknown) => never)(thrown);
				let last: AgentState | undefined;
				const cancelled = Promise.withResolvers<void>();
				const slow = anyTool("slow", (_, { signal }) => {
					signal.addEventListener("abort", () => cancelled.resolve());
					return place.startsWith("on") && toolPlaces.includes(place as never) ? cancelled.promise : "slow";
				});
				const hooks: AgentStrategy = {
					onError: (_, state) => {
						last = state;
					},
				};
				const options: AgentOptions = toolPlaces.includes(place as never)
					? { toolStrategy: { [place]: fail }, strategy: hooks }
					: { strategy: { ...hooks, [place]: fail } };
				const one = agent({ model: scriptedModel(script), tools: [...failingTools(), slow], ...options });
				const outcome = await one.generate("go", initial).then(
					() => "completed",
					(error: unknown) => [error],
				);
				expect(Array.isArray(outcome) && outcome[0] === thrown).toBe(true);
				if (place === "onComplete" || place === "onStepStart") continue;
				const [, said, results] = lines(last?.messages ?? []);
				expect(said).toBe("assistant:  [echo, fail, slow]");
				expect(results?.split(", ")).toHaveLength(3);
			}
		},
	);

	test("a tool that finished keeps its result if the hook after it fails", async () => {
		let last: AgentState | undefined;
		const one = agent({
			model: scriptedModel([twoRounds[0] as ScriptedReply]),
			tools: failingTools(),
			strategy: {
				onError: (_, state) => {
					last = state;
				},
			},
			toolStrategy: {
				onAfterCall: () => {
					throw new Error("from the hook");
				},
			},
		});
		await expect(one.generate("go", initial)).rejects.toThrow("from the hook");
		expect(lines(last?.messages ?? [])).toEqual(["user: go", "assistant:  [echo]", "results: a"]);
	});
});

test("a result that replaces another in onAfterCall must meet the same rules", async () => {
	const given = [{ at: new Date(0) }, () => 1, new Response("x")];
	const results: unknown[] = [];
	for (const replacement of given) {
		const one = agent({
			model: scriptedModel([{ toolCalls: [{ name: "echo", arguments: { text: "a" } }] }, "Done."]),
			tools: failingTools(),
			toolStrategy: { onAfterCall: () => replacement },
		});
		const [execution] = (await one.generate("go", initial)).turn.toolExecutions;
		results.push([execution?.result, execution?.isError]);
	}
	expect(results).toEqual([
		[{ at: "1970-01-01T00:00:00.000Z" }, false],
		[expect.stringMatching(/cannot be written as JSON: it is a function/), true],
		[expect.stringMatching(/class Response/), true],
	]);
});

describe("a middleware's stop", () => {
	const call: ScriptedReply = { text: "Hm.", toolCalls: [{ name: "echo", arguments: { text: "a" } }] };
	const steps = ["a", "b", "c", "d"].map((id) => ({ id, description: id }));
	const strategies = [
		{ name: "loop", execution: loop(), script: () => call },
		{ name: "react", execution: react(), script: (at: number) => (at % 2 === 0 ? "Hm." : call) },
		{
			name: "plan",
			execution: plan(),
			script: (at: number) => (at === 0 ? { text: "A plan.", data: { steps } } : "Done."),
		},
	];
	const cases = strategies.flatMap((given) =>
		(["generate", "ask", "query", "stream"] as const).map((way) => ({ ...given, way })),
	);

	test.each(cases)(
		"ends the run of $name() after the step it was called for, by $way",
		async ({ execution, script, way }) => {
			const asked: number[] = [];
			const one = agent({
				model: scriptedModel((_, at) => {
					if (at > 20) throw new Error("it was not stopped");
					return script(at);
				}),
				tools: failingTools(),
				execution,
				middleware: [
					{
						name: "limit",
						stop(_, { step }) {
							asked.push(step);
							return step >= 2;
						},
					},
				],
			});
			if (way === "stream") {
				const stream = one.stream("go", initial);
				const ended = dataOf(await collect(stream), "step_end");
				expect(ended).toHaveLength(2);
				expect((await stream.result).state.step).toBe(2);
			} else if (way === "query") await one.query("go");
			else expect((await one[way]("go", initial)).state.step).toBe(2);
			expect(asked).toEqual([1, 2]);
		},
	);
});

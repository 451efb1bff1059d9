// An agent from the outside: its configuration, its life, its events.

import { execFileSync } from "node:child_process";
import { inMemoryClient } from "@holdfast/memory";
import { scriptedModel } from "@holdfast/testing";
import { isHoldfastError } from "@holdfast/upp";
import { afterEach, describe, expect, test, vi } from "vitest";
import type {
	AgentConfig,
	AgentResult,
	LLMClient,
	RunnerEvent,
	RunnerSession,
	RunnerStep,
	RunnerTool,
} from "../contract/index.ts";
import { memoryEventStore } from "../events/index.ts";
import { stubClient } from "../harness/index.ts";
import { stepsPlanner } from "../loop/index.ts";
import { anthropicClient, localClient, modelClient, openaiClient } from "../models/index.ts";
import { configured, deferred, echo, finish, hanging, made, use } from "./agent.fixture.ts";
import { RunnerAgent } from "./agent.ts";
import { AgentService } from "./agent-service.ts";
import { flagsOf } from "./read-config.ts";

function thrown(make: () => unknown): { code: string; data?: Record<string, unknown> } {
	try {
		make();
	} catch (error) {
		if (isHoldfastError(error)) return error as never;
		throw error;
	}
	throw new Error("it threw nothing");
}

describe("a configuration", () => {
	test("that is invalid is rejected with every invalid path [RUN-016]", () => {
		const wrong = { id: " ", taskPrompt: "", tools: {}, modelProviders: "x" } as unknown as AgentConfig;
		const error = thrown(() => new RunnerAgent(wrong));
		expect(error.code).toBe("CONFIG_INVALID");
		expect(error.data).toEqual({ paths: ["id", "taskPrompt", "tools", "modelProviders"] });
	});

	test("without its own planner needs a provider [RUN-016]", () => {
		const { planner: _, ...config } = configured([]);
		expect(thrown(() => new RunnerAgent(config)).data).toEqual({ paths: ["modelProviders"] });
		expect(() => new RunnerAgent(configured([]))).not.toThrow();
	});

	test.each([0, -1, 1.5, Number.NaN, "3"])(
		"rejects %s as maxSteps, also of a session [RUN-017]",
		(maxSteps) => {
			const given = { maxSteps: maxSteps as number };
			expect(thrown(() => made([], given)).code).toBe("CONFIG_INVALID");
			expect(thrown(() => made([]).createSession(given)).code).toBe("CONFIG_INVALID");
		},
	);

	test("has no limit of steps, and a session's own limit applies only to it [RUN-017]", async () => {
		const steps = Array.from({ length: 60 }, (): RunnerStep => ({ type: "internal", message: "x" }));
		const agent = made([...steps, finish]);
		expect(await agent.runOnce()).toMatchObject({ success: true, steps: 61 });
		expect(await agent.runOnce({ maxSteps: 5 })).toMatchObject({ success: false, steps: 5 });
		expect(await agent.runOnce()).toMatchObject({ success: true });
		const limited = made([...steps, finish], { maxSteps: 2 });
		expect(await limited.runOnce({ maxSteps: 61 })).toMatchObject({ success: true });
	});

	describe("takes flags from the environment", () => {
		afterEach(() => void vi.unstubAllEnvs());

		test("and rejects invalid values [RUN-159]", () => {
			vi.stubEnv("AGENT_RUNTIME_ALLOW_SHELL", "perhaps");
			const error = thrown(() => made([]));
			expect([error.code, error.data]).toEqual(["CONFIG_INVALID", { paths: ["AGENT_RUNTIME_ALLOW_SHELL"] }]);
			expect(() => made([], { allowShell: false })).not.toThrow();
		});

		test("if the configuration does not set them [RUN-159]", async () => {
			vi.stubEnv("AGENT_RUNTIME_LOG_TOOL_INPUTS", "exclude");
			const inputs = async (more: Partial<AgentConfig>) =>
				(await made([use("echo", "x"), finish], more).runOnce()).actions?.[0]?.input;
			expect(await inputs({})).toBeUndefined();
			expect(await inputs({ logToolInputs: "redacted" })).toBe("x");
			for (const how of ["redacted", "exclude", "raw"])
				expect(flagsOf({}, { AGENT_RUNTIME_LOG_TOOL_INPUTS: how }).logToolInputs).toBe(how);
			vi.stubEnv("AGENT_RUNTIME_LOG_TOOL_INPUTS", "all");
			expect(thrown(() => made([])).data).toEqual({ paths: ["AGENT_RUNTIME_LOG_TOOL_INPUTS"] });
		});

		test.each([
			["AGENT_RUNTIME_ALLOW_NETWORK", "allowNetwork"],
			["AGENT_RUNTIME_ALLOW_SHELL", "allowShell"],
			["AGENT_RUNTIME_ALLOW_DB_WRITES", "allowDbWrites"],
		] as const)(
			"%s is off by default, and an option takes precedence over it [RUN-159]",
			(variable, name) => {
				expect(flagsOf({}, {})).toMatchObject({ [name]: false });
				expect(flagsOf({}, { [variable]: "" })).toMatchObject({ [name]: false });
				for (const on of ["true", "1", "TRUE"])
					expect(flagsOf({}, { [variable]: on })).toMatchObject({ [name]: true });
				expect(flagsOf({ [name]: false }, { [variable]: "1" })).toMatchObject({ [name]: false });
				expect(flagsOf({ [name]: true }, { [variable]: "0" })).toMatchObject({ [name]: true });
				expect(thrown(() => flagsOf({}, { [variable]: "yes" })).code).toBe("CONFIG_INVALID");
			},
		);
	});
});

describe("a service of agents", () => {
	test("returns one agent for each id, and rejects another configuration for it [RUN-011]", () => {
		const service = new AgentService();
		const config = configured([finish]);
		const agent = service.get(config);
		expect(service.get({ ...config })).toBe(agent);
		expect(service.get({ ...config, tools: [echo] })).toBe(agent);
		expect(service.get({ ...config, id: "b" })).not.toBe(agent);
		expect(thrown(() => service.get({ ...config, taskPrompt: "Do another." })).code).toBe(
			"AGENT_ID_CONFLICT",
		);
		for (const other of [{ tools: [] }, { maxSteps: 3 }])
			expect(thrown(() => service.get({ ...config, ...other })).code).toBe("AGENT_ID_CONFLICT");
	});
});

test("the service of the whole process is reached without creating one", async () => {
	const config = { ...configured([finish]), id: "shared" };
	const agent = AgentService.get(config);
	expect(AgentService.get({ ...config })).toBe(agent);
	expect(new AgentService().get(config)).not.toBe(agent);
	await AgentService.stop();
	expect(AgentService.get(config)).not.toBe(agent);
	await AgentService.stop();
});

describe("events of an agent", () => {
	test("reach handlers in order, and unknown ones are rejected [RUN-010]", async () => {
		const broken = { id: "broken", run: () => Promise.reject(new Error("no")) };
		const agent = made([use("echo"), use("broken")], { tools: [echo, broken] });
		const heard: string[] = [];
		for (const name of ["step", "tool", "error", "metrics"] as const) {
			agent.on(name, () => heard.push(`${name} 1`));
			agent.on(name, () => heard.push(`${name} 2`));
		}
		await agent.runOnce();
		expect(heard).toEqual([
			...["step 1", "step 2", "tool 1", "tool 2", "tool 1", "tool 2", "step 1", "step 2"],
			...["tool 1", "tool 2", "error 1", "error 2", "tool 1", "tool 2", "metrics 1", "metrics 2"],
		]);
		expect(thrown(() => agent.on("steps" as never, () => {})).code).toBe("EVENT_UNKNOWN");
	});

	test("a handler that throws is one warning, and changes nothing else [RUN-029]", async () => {
		const agent = made([use("echo"), { type: "internal" }, finish]);
		let others = 0;
		agent.on("step", () => {
			throw new Error("no");
		});
		agent.on("step", () => others++);
		agent.on("tool", () => Promise.reject(new Error("later")));
		const result = await agent.runOnce();
		expect(result.success).toBe(true);
		const warnings = ['a handler of "step" failed: no', 'a handler of "tool" failed: later'];
		expect(result.diagnostics).toEqual({ warnings });
		expect(others).toBe(3);
		expect((await made([finish]).runOnce()).diagnostics).toBeUndefined();
	});

	test("failures and policy stops are a line of the traces, redacted and in order [RUN-029]", async () => {
		let calls = 0;
		const flaky: RunnerTool = {
			id: "flaky",
			retry: { baseDelayMs: 0 },
			run() {
				if (++calls === 1)
					throw Object.assign(new Error("busy for ann@example.com"), { retriable: true, code: "BUSY" });
				return "done";
			},
		};
		const steps = [use("flaky"), use("echo"), use("nobody"), finish];
		const safety = { toolDenylist: ["echo"] };
		const { success, diagnostics } = await made(steps, { tools: [flaky, echo], safety }).runOnce();
		expect(success).toBe(true);
		expect(diagnostics).toEqual({
			traces: [
				"step 1: the tool flaky: BUSY: busy for [REDACTED:email]",
				expect.stringMatching(/^step 2: blocked by the rule toolDenylist: TOOL_DENIED: ./),
				expect.stringMatching(/^step 3: refused by the rule registry: TOOL_NOT_FOUND: ./),
			],
		});
	});

	test("have no gaps, start with the start and end with the end, also for an aborted run [RUN-140]", async () => {
		const hang = hanging(true);
		for (const aborted of [false, true]) {
			const events: RunnerEvent[] = [];
			const eventBus = { emit: (event: RunnerEvent) => void events.push(event) };
			const agent = made([use(aborted ? "hang" : "echo"), finish], { tools: [echo, hang], eventBus });
			const session = agent.createSession();
			const running = session.run();
			if (aborted) {
				await hang.begun;
				session.abort();
			}
			const { id, eventStream } = await running;
			expect(events).toEqual(eventStream);
			expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
			expect(events[0]?.type).toBe("run.start");
			expect(events.filter(({ type }) => type === "run.end")).toEqual([events.at(-1)]);
			expect(
				events.every(
					({ runId, sessionId, time }) => runId === id && sessionId === session.id && time.endsWith("Z"),
				),
			).toBe(true);
		}
	});

	test("hooks: one step starts an iteration before planning, one tool call an attempt before it runs [RUN-138]", async () => {
		const log: unknown[] = [];
		let attempts = 0;
		const flaky = {
			id: "flaky",
			retry: { baseDelayMs: 0 },
			run: () => {
				log.push("run");
				if (++attempts < 3) throw Object.assign(new Error("again"), { retriable: true });
				return "ok";
			},
		};
		const planner = stepsPlanner(({ step }) => {
			log.push(`plan ${step}`);
			return step === 1 ? use("flaky", { to: "ann@example.com" }) : finish;
		});
		const config = configured([], {
			planner,
			tools: [flaky],
			onStepStart: ({ step, sessionId }) => log.push([step, sessionId]),
			onToolCall: (toolId, input) => log.push([toolId, input]),
		});
		const session = new RunnerAgent(config).createSession();
		await session.run();
		const call = ["flaky", { to: "[REDACTED:email]" }];
		expect(log).toEqual([
			[1, session.id],
			...["plan 1", call, "run", call, "run", call, "run"],
			[2, session.id],
			"plan 2",
		]);
	});

	test("onError is called for each error, also for retried ones [RUN-139]", async () => {
		const heard: unknown[] = [];
		const failing = {
			id: "failing",
			retry: { baseDelayMs: 0 },
			run: () => Promise.reject(Object.assign(new Error("no luck"), { retriable: true, code: "LUCK" })),
		};
		const planner = stepsPlanner(({ step }) => {
			if (step === 1) return use("failing");
			throw new Error("no idea");
		});
		const agent = made([], { planner, tools: [failing], onError: (error) => heard.push(error) });
		const session = agent.createSession();
		await session.run();
		const { id: sessionId } = session;
		const tool = { code: "LUCK", message: "no luck", sessionId };
		expect(heard).toEqual([tool, tool, tool, { code: "PLANNER_FAILED", message: "no idea", sessionId }]);
	});

	test("onError is called once for failures of a model, a rule, a reflector and the audit [RUN-139]", async () => {
		const codes = async (steps: readonly RunnerStep[], more: Partial<AgentConfig>) => {
			const heard: string[] = [];
			const onError = ({ code }: { readonly code: string }) => void heard.push(code);
			await made(steps, { ...more, onError }).runOnce();
			return heard;
		};
		const failing = (retriable: boolean) => ({
			call: () => Promise.reject(Object.assign(new Error("busy"), { retriable })),
		});
		const ofModel = (...modelProviders: readonly LLMClient[]) =>
			codes([], { planner: undefined as never, modelProviders });
		expect(await ofModel(failing(false))).toEqual(["MODEL_FAILED"]);
		expect(await ofModel(failing(true), stubClient([finish]))).toEqual(["MODEL_FAILED"]);
		expect(await ofModel(stubClient(["nonsense", "nonsense"]))).toEqual(["PLAN_INVALID"]);
		expect(await codes([use("echo"), use("nobody"), finish], { safety: { toolDenylist: ["echo"] } })).toEqual(
			["TOOL_DENIED", "TOOL_NOT_FOUND"],
		);
		const reflector = { reflect: () => Promise.reject(new Error("no")) };
		expect(await codes([use("echo"), finish], { reflector })).toEqual(["REFLECTOR_FAILED"]);
		const auditSink = { write: () => Promise.reject(new Error("disk full")) };
		const writeFilters = [{ match: "said", action: "drop" }] as const;
		expect(await codes([use("echo", 1), finish], { safety: { auditSink, writeFilters } })).toEqual([
			"AUDIT_WRITE_FAILED",
		]);
	});
});

describe("the lifecycle of an agent", () => {
	test("clients are started once, and a failed start can be retried [RUN-012]", async () => {
		let starts = 0;
		const memoryClient = {
			...inMemoryClient(),
			start: async () => {
				if (++starts === 1) throw new Error("not yet");
			},
		};
		const started: string[] = [];
		const start = (name: string) => async () => void started.push(name);
		const clientOf = (name: string): LLMClient => ({ call: async () => ({ text: "" }), start: start(name) });
		const databaseClient = { write: vi.fn(), read: vi.fn(), query: vi.fn(), start: start("database") };
		const modelProviders = [clientOf("one"), clientOf("two")];
		const agent = made([finish], { memoryClient, databaseClient, modelProviders });
		await expect(Promise.all([agent.start(), agent.start()])).rejects.toThrow("not yet");
		await Promise.all([agent.start(), agent.start(), agent.start()]);
		expect(starts).toBe(2);
		expect(started).toEqual(["one", "two", "one", "two", "database"]);
		const unstarted = made([finish], { memoryClient });
		await unstarted.runOnce();
		await unstarted.runOnce();
		expect(starts).toBe(3);
	});

	test("health never throws, has a check for each client, and explains what is wrong [RUN-013]", async () => {
		const database = {
			write: vi.fn(),
			read: vi.fn(),
			query: vi.fn(),
			health: vi.fn(() => Promise.resolve()),
		};
		const model = { call: async () => ({ text: "" }), health: vi.fn(() => Promise.resolve()) };
		const agent = made([finish], {
			modelProviders: [{ id: "model", client: model }, { call: model.call }],
			memoryClient: inMemoryClient(),
			databaseClient: database,
		});
		expect(await agent.health()).toEqual({
			status: "ok",
			checks: [
				{ name: "model", ok: true },
				{ name: "provider-2", ok: true },
				{ name: "memory", ok: true },
				{ name: "database", ok: true },
			],
		});
		database.health.mockImplementation(() => {
			throw new Error("gone");
		});
		expect(await agent.health()).toMatchObject({
			status: "degraded",
			checks: [{ ok: true }, { ok: true }, { ok: true }, { name: "database", ok: false, message: "gone" }],
		});
		database.health.mockImplementation(() => Promise.resolve());
		model.health.mockImplementation(() => Promise.reject());
		expect(await agent.health()).toMatchObject({
			status: "degraded",
			checks: [
				{ name: "model", ok: false, message: "It gave no reason." },
				{ ok: true },
				{ ok: true },
				{ ok: true },
			],
		});
		await agent.stop();
		expect((await agent.health()).status).toBe("stopped");
	});

	test("stop lets sessions finish, aborts slow ones, and closes each client once [RUN-014] [RUN-015]", async () => {
		const closed: string[] = [];
		const memoryClient = {
			...inMemoryClient(),
			close: () => {
				closed.push("memory");
				throw new Error("no");
			},
		};
		const databaseClient = {
			write: async () => {},
			read: async () => null,
			query: async () => [],
			close: async () => void closed.push("database"),
		};
		const closing = (name: string): LLMClient => ({
			call: async () => ({ text: "" }),
			close: async () => {
				closed.push(name);
				throw new Error("no");
			},
		});
		const [one, two] = [closing("one"), closing("two")];
		const { promise, resolve } = deferred();
		const slow = { id: "slow", run: () => promise };
		const hang = hanging(false);
		const agent = made(({ task }) => (task === "hang" ? use("hang") : use("slow")), {
			tools: [slow, hang],
			modelProviders: [one, two, { id: "again", client: one }],
			memoryClient,
			databaseClient,
			shutdownTimeoutMs: 300,
			abortGraceMs: 50,
			goalMet: () => true,
		});
		const finishing = agent.runOnce();
		const stuck = agent.runOnce({ task: "hang" });
		await hang.begun;
		const ends: string[] = [];
		void stuck.then(() => ends.push("aborted"));
		const stopping = agent.stop().then(() => ends.push("stopped"));
		expect(thrown(() => agent.createSession()).code).toBe("AGENT_STOPPED");
		await expect(agent.runOnce()).rejects.toMatchObject({ code: "AGENT_STOPPED" });
		resolve();
		expect((await finishing).success).toBe(true);
		expect((await stuck).aborted).toBe(true);
		await stopping;
		await agent.stop();
		expect(ends).toEqual(["aborted", "stopped"]);
		expect(closed).toEqual(["one", "two", "memory", "database"]);
	});

	test("stop waits 10 seconds for sessions by default [RUN-014]", async () => {
		const asked: number[] = [];
		const after = (milliseconds: number) => {
			asked.push(milliseconds);
			return () => {};
		};
		await made([finish], { ports: { timers: { after } } }).stop();
		expect(asked).toEqual([10_000]);
	});
});

test("an injected runner gets the session and its specification, and aborts by id [RUN-044]", async () => {
	const aborted: string[] = [];
	const { promise, resolve } = deferred();
	const runner = {
		run: vi.fn(async (_: RunnerSession) => {
			await promise;
			return { id: "r", success: false, startedAt: "", finishedAt: "" };
		}),
		abort: async (id: string) => {
			aborted.push(id);
			resolve();
		},
	};
	const config = configured([finish], { runner });
	const session = new RunnerAgent(config).createSession({ maxSteps: 3 });
	const running = session.run();
	await expect.poll(() => runner.run.mock.calls.length).toBe(1);
	session.abort();
	expect(await running).toMatchObject({ id: "r" });
	expect(runner.run).toHaveBeenCalledWith(session, { config, options: { maxSteps: 3 } });
	expect(runner.run.mock.calls[0]?.[0]).toBe(session);
	expect(aborted).toEqual([session.id]);
	session.abort();
	expect(aborted).toEqual([session.id]);
	const agent = made([finish]);
	const over = agent.createSession();
	await over.run();
	const foreign = { id: "x", run: () => promise as never, abort: () => {} };
	for (const rejected of [
		agent.runner.abort("nobody"),
		agent.runner.abort(over.id),
		agent.runner.run(foreign),
	])
		await expect(rejected).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("an injected runner never gets a session that was aborted before, and no abort after its end [RUN-007]", async () => {
	const result = { id: "r", success: true, startedAt: "", finishedAt: "" };
	const runner = { run: vi.fn(async () => result), abort: vi.fn(async () => {}) };
	const agent = new RunnerAgent(configured([finish], { runner }));
	const early = agent.createSession();
	early.abort();
	const none = await early.run();
	expect(none).toMatchObject({ aborted: true, steps: 0 });
	expect(Date.parse(none.finishedAt)).toBeGreaterThanOrEqual(Date.parse(none.startedAt));
	expect(runner.run).not.toHaveBeenCalled();
	const session = agent.createSession();
	expect(await session.run()).toMatchObject(result);
	session.abort();
	expect(runner.abort).not.toHaveBeenCalled();
});

describe("deterministic sessions", () => {
	const client = (deterministic: boolean): LLMClient => ({ deterministic, call: async () => ({ text: "" }) });

	test("need clients that are marked so: stubs and recorded ones are, those of services are not [RUN-146]", async () => {
		const options = { deterministic: true };
		const live = made([finish], { modelProviders: [client(true), client(false)] });
		expect(thrown(() => live.createSession(options)).code).toBe("CONFIG_INVALID");
		expect(() => made([finish], { modelProviders: [client(true)] }).createSession(options)).not.toThrow();
		expect(stubClient([]).deterministic).toBe(true);
		const given = { model: "m", apiKey: "k", baseUrl: "http://127.0.0.1:1" };
		for (const adapter of [
			openaiClient(given),
			anthropicClient(given),
			localClient({ model: "m", baseUrl: given.baseUrl }),
		])
			expect(adapter.deterministic).toBeUndefined();
		expect(modelClient(scriptedModel([])).deterministic).toBeUndefined();
		const eventStore = memoryEventStore();
		const recorded = made([finish], { modelProviders: [client(true)], eventStore });
		const { id } = await recorded.runOnce(options);
		const replayed = await made([finish], { modelProviders: [client(false)], eventStore }).replay(id);
		expect(replayed).toMatchObject({ success: true, deterministic: true });
	});

	/** Prints the result of a run with this seed; a program of its own. */
	const program = `
		import { RunnerAgent, stepsPlanner } from "@holdfast/runner";
		const rolls = { id: "dice", run: (_, { rng }) => rng() };
		let failures = 0;
		const flaky = {
			id: "flaky",
			retry: { baseDelayMs: 20 },
			run: () => {
				if (++failures < 3) throw Object.assign(new Error("again"), { retriable: true });
				return "ok";
			},
		};
		const steps = ["dice", "flaky"].map((toolId) => ({ type: "tool", toolId }));
		const agent = new RunnerAgent({
			id: "a",
			taskPrompt: "Do it.",
			tools: [rolls, flaky],
			modelProviders: [],
			planner: stepsPlanner([...steps, { type: "finish", message: "done" }]),
		});
		console.log(JSON.stringify(await agent.runOnce({ deterministic: true, seed: Number(process.argv[1]) })));`;

	test("give the same result for the same seed in every process, byte by byte, and are marked so [RUN-145] [RUN-033]", async () => {
		const run = (seed: number): string =>
			execFileSync(
				process.execPath,
				["--conditions=holdfast-source", "--no-warnings", "--input-type=module", "-e", program, String(seed)],
				{ cwd: import.meta.dirname, encoding: "utf8" },
			);
		const [first, second, other] = [run(7), run(7), run(8)];
		expect(second).toBe(first);
		expect(other).not.toBe(first);
		const result = JSON.parse(first) as AgentResult;
		expect(result).toMatchObject({ deterministic: true, seed: 7, success: true });
		expect(result.eventStream?.length).toBeGreaterThan(10);
		expect(JSON.parse(other).id).not.toBe(result.id);
		expect(JSON.parse(other).actions[0].output).not.toBe(result.actions?.[0]?.output);
		// The clock is moved by what was waited for.
		expect(JSON.parse(other).finishedAt).not.toBe(result.finishedAt);
		const live = await made([finish]).runOnce({ seed: 7 });
		expect([live.deterministic, live.seed]).toEqual([undefined, undefined]);
	});
});

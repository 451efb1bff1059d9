// Policy: what is blocked, changed or left to a person, and what is on record of it.
import { inMemoryClient } from "@holdfast/memory";
import { isHoldfastError } from "@holdfast/upp";
import { memoryHost } from "holdfast";
import { describe, expect, test, vi } from "vitest";
import { configured, finish, made, use } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import {
	type AgentConfig,
	type AuditRecord,
	type PlannerState,
	type PolicyDecision,
	type PolicyQuestion,
	type RunnerStep,
	type RunnerTool,
	type SafetyConfig,
	topics,
} from "../contract/index.ts";
import { stubClient } from "../harness/index.ts";

function spied(id: string, more: Partial<RunnerTool> = {}): RunnerTool & { readonly inputs: unknown[] } {
	const inputs: unknown[] = [];
	return {
		id,
		inputs,
		run: (input) => {
			inputs.push(input);
			return { did: id };
		},
		...more,
	};
}

/** Carries out steps under these rules; gives what came of it and what is on record. */
async function under(safety: SafetyConfig, steps: readonly RunnerStep[], more: Partial<AgentConfig> = {}) {
	const states: PlannerState[] = [];
	const planner = {
		plan: (state: PlannerState) => {
			states.push(state);
			return steps[state.step - 1] ?? finish;
		},
	};
	const agent = made([], { safety, planner, ...more });
	const session = agent.createSession();
	const result = await session.run();
	return { agent, result, states, audit: await agent.audit(session.id) };
}

describe("a step that names a tool", () => {
	test("that is not allowed is blocked before it runs, recorded, and reported [RUN-119] [RUN-073] [RUN-125]", async () => {
		const [a, b, c] = [spied("a"), spied("b"), spied("c")];
		const tools = [a, b, c];
		const steps = [use("a", 1), use("b", 2), use("c", 3), finish];
		const run = async (safety: SafetyConfig) => {
			const { result, states, audit } = await under(safety, steps, { tools });
			return {
				ran: [a, b, c].map(({ inputs }) => inputs.splice(0).length),
				codes: result.actions?.map(({ error }) => error?.code),
				offered: states[0]?.tools.map(({ id }) => id),
				audit,
				result,
				states,
			};
		};
		expect(await run({})).toMatchObject({ ran: [1, 1, 1], audit: [] });
		expect(await run({ toolAllowlist: [] })).toMatchObject({ ran: [0, 0, 0], offered: [] });
		const both = await run({ toolAllowlist: ["a", "b"], toolDenylist: ["b"] });
		expect(both.ran).toEqual([1, 0, 0]);
		expect(both.codes).toEqual([undefined, "TOOL_DENIED", "TOOL_NOT_ALLOWED", undefined]);
		expect(both.offered).toEqual(["a"]);
		expect(both.states[2]?.lastResult).toMatchObject({ ok: false, error: { code: "TOOL_DENIED" } });
		expect(both.result.success).toBe(true);
		expect((await run({})).ran).toEqual([1, 1, 1]);
		expect(both.audit).toHaveLength(2);
		expect(both.audit[0]).toEqual({
			id: expect.stringMatching(/^[0-9a-f-]{36}$/),
			timestamp: expect.stringMatching(/Z$/),
			agentId: "a",
			sessionId: both.result.sessionId,
			point: "planner-output",
			rule: "toolDenylist",
			action: "blocked",
			subject: use("b", 2),
		});
	});

	test("uses up the budget: the next block ends the run [RUN-119]", async () => {
		const steps = Array.from({ length: 9 }, () => use("no"));
		const tools = [spied("no")];
		const byDefault = await under({ toolDenylist: ["no"] }, steps, { tools });
		expect(byDefault.result).toMatchObject({ success: false, steps: 4, error: { code: "SAFETY_VIOLATION" } });
		expect(byDefault.states.map(({ safetyBudget }) => safetyBudget)).toEqual([3, 2, 1, 0]);
		const none = await under({ toolDenylist: ["no"], safetyBudget: 0 }, steps, { tools });
		expect(none.result).toMatchObject({ steps: 1, error: { code: "SAFETY_VIOLATION" } });
		const unknown = await under({ safetyBudget: 0 }, [use("nobody"), finish], { tools });
		expect(unknown.result.success).toBe(true);
	});

	test("that is not safe by default runs only if it is enabled [RUN-072]", async () => {
		const tool = spied("sharp", { safeByDefault: false });
		const closed = await under({}, [use("sharp"), finish], { tools: [tool] });
		expect(closed.result.actions?.[0]?.error?.code).toBe("TOOL_NOT_ENABLED");
		expect(closed.audit).toMatchObject([{ rule: "safeByDefault", action: "blocked" }]);
		expect(tool.inputs).toEqual([]);
		const open = await under({}, [use("sharp"), finish], { tools: [tool], enableTools: ["sharp"] });
		expect(open.result.actions?.[0]?.ok).toBe(true);
	});

	test.each([
		["network", "NETWORK_DISABLED", { allowNetwork: true }],
		["shell", "SHELL_DISABLED", { allowShell: true }],
	] as const)(
		"that needs the %s returns %s unless it is allowed [RUN-158] [RUN-159]",
		async (requires, code, allowing) => {
			const tool = spied("out", { requires, safeByDefault: false });
			const closed = await under({}, [use("out"), finish], { tools: [tool] });
			expect(closed.result.actions?.[0]?.error?.code).toBe(code);
			expect([tool.inputs, closed.audit.length]).toEqual([[], 1]);
			expect(
				(await under({}, [use("out"), finish], { tools: [tool], ...allowing })).result.actions?.[0]?.ok,
			).toBe(true);
			const variable = `AGENT_RUNTIME_ALLOW_${requires.toUpperCase()}`;
			vi.stubEnv(variable, "true");
			try {
				expect((await under({}, [use("out"), finish], { tools: [tool] })).result.actions?.[0]?.ok).toBe(true);
				const off = Object.fromEntries(Object.keys(allowing).map((name) => [name, false]));
				expect(
					(await under({}, [use("out"), finish], { tools: [tool], ...off })).result.actions?.[0]?.error?.code,
				).toBe(code);
			} finally {
				vi.unstubAllEnvs();
			}
		},
	);

	test("too often is blocked across all sessions of the agent, until the time is up [RUN-120]", async () => {
		let now = 1_000;
		const clock = { now: () => now, monotonic: () => now };
		const tool = spied("t");
		const safety = { requestRateLimit: { t: { max: 2, windowMs: 100 } } };
		const agent = made([use("t"), finish], { tools: [tool], safety, ports: { clock } });
		const code = async () => (await agent.runOnce()).actions?.[0]?.error?.code;
		expect([await code(), await code(), await code()]).toEqual([undefined, undefined, "RATE_LIMITED"]);
		now += 99;
		// What is refused does not count.
		expect([await code(), await code()]).toEqual(["RATE_LIMITED", "RATE_LIMITED"]);
		now += 1;
		expect(await code()).toBeUndefined();
		expect(tool.inputs).toHaveLength(3);
		const other = made([use("t"), finish], { tools: [tool], safety, ports: { clock } });
		for (let runs = 0; runs < 2; runs++) expect((await other.runOnce()).actions?.[0]?.ok).toBe(true);
	});

	test("counts retries, too [RUN-120]", async () => {
		const run = vi.fn(() => Promise.reject(Object.assign(new Error("again"), { retriable: true })));
		const safety = { requestRateLimit: { t: { max: 2, windowMs: 60_000 } } };
		const tools = [{ id: "t", run, retry: { baseDelayMs: 0, maxAttempts: 5 } }];
		const { result, audit } = await under(safety, [use("t"), finish], { tools });
		expect(run).toHaveBeenCalledTimes(2);
		expect(result.actions?.[0]?.error?.code).toBe("RATE_LIMITED");
		expect(audit).toHaveLength(1);
	});
});

describe("content", () => {
	test("that is filtered keeps a prompt from the model [RUN-121]", async () => {
		for (const matcher of ["forbidden", /FORB\w+/g, (text: string) => text.includes("FORB")]) {
			const client = stubClient([finish]);
			const { planner: _, ...config } = configured([], {
				modelProviders: [client],
				safety: { contentFilter: [matcher] },
			});
			const agent = new RunnerAgent(config);
			const session = agent.createSession({ task: "do the FORBIDDEN thing" });
			expect((await session.run()).error?.code).toBe("CONTENT_BLOCKED");
			expect(client.prompts).toEqual([]);
			expect(await agent.audit(session.id)).toMatchObject([{ point: "model-prompt", action: "blocked" }]);
		}
	});

	test("that is filtered keeps an input, at any depth, from its tool [RUN-121]", async () => {
		const tool = spied("t");
		// A pattern keeps no place from one text to the next.
		const contentFilter = [/forbidden/g];
		for (const input of ["forbidden", "forbidden", { a: [{ b: "so forbidden" }] }, { forbidden: 1 }]) {
			const { result, audit } = await under({ contentFilter }, [use("t", input), finish], {
				tools: [tool],
			});
			expect(result.actions?.[0]?.error?.code).toBe("CONTENT_BLOCKED");
			expect(audit).toMatchObject([{ point: "tool-input", rule: "contentFilter" }]);
		}
		expect(tool.inputs).toEqual([]);
	});

	test("from a sanitiser is the input of the tool and of the actions, with one record [RUN-122]", async () => {
		const tool = spied("t");
		const sanitizers = [
			(_: string, input: unknown) => ({ ...(input as object), path: "/safe" }),
			(toolId: string, input: unknown) => (toolId === "t" ? { ...(input as object), checked: true } : input),
		];
		const { result, audit } = await under({ sanitizers }, [use("t", { path: "/etc" }), finish], {
			tools: [tool],
		});
		const modified = { path: "/safe", checked: true };
		expect(tool.inputs).toEqual([modified]);
		expect(result.actions?.[0]).toMatchObject({ ok: true, input: modified });
		expect(audit).toMatchObject([{ point: "tool-input", rule: "sanitizers", action: "modified" }]);
		const same = await under(
			{ sanitizers: [(_, input) => ({ ...(input as object) })] },
			[use("t", { a: 1 }), finish],
			{ tools: [tool] },
		);
		expect(same.audit).toEqual([]);
	});
});

describe("writes", () => {
	const writing: RunnerTool = {
		id: "write",
		run: async (_, { memory, database }) => {
			await memory.append("notes", "the word is swordfish");
			await database?.write("facts", "k", { word: "swordfish", n: 1 });
			return "wrote";
		},
	};

	test("pass the filter: masked or dropped, each with a record; a dropped write is not a change [RUN-123] [RUN-027]", async () => {
		for (const action of ["redact", "drop"] as const) {
			const written: unknown[] = [];
			const databaseClient = {
				write: async (...given: unknown[]) => void written.push(given[2]),
				read: async () => null,
				query: async () => [],
			};
			const memoryClient = inMemoryClient();
			const safety: SafetyConfig = { writeFilters: [{ match: /swordfish/, action, rule: "words" }] };
			const { result, audit } = await under(safety, [use("write"), finish], {
				tools: [writing],
				memoryClient,
				databaseClient,
			});
			expect(result.success).toBe(true);
			const notes = await memoryClient.read("notes");
			if (action === "redact") {
				expect(notes).toEqual(["the word is [REDACTED:filtered]"]);
				expect(written).toEqual([{ word: "[REDACTED:filtered]", n: 1 }]);
			} else expect([notes, written]).toEqual([[], []]);
			const record = { rule: "words", action: action === "redact" ? "modified" : "dropped" };
			expect(audit.map(({ point, rule, action: done }) => ({ point, rule, action: done }))).toEqual([
				{ point: "memory-write", ...record },
				{ point: "database-write", ...record },
			]);
			expect(result.memoryDeltas?.map(({ key }) => key)).toEqual(
				action === "redact" ? ["notes", "facts/k", result.sessionId] : [result.sessionId],
			);
		}
	});

	test("of the loop itself also pass it, and the record is in the same append as the write [RUN-123]", async () => {
		const host = memoryHost();
		const memoryClient = inMemoryClient();
		const tool = spied("t", { run: () => "swordfish" });
		const safety: SafetyConfig = { writeFilters: [{ match: "swordfish", action: "drop" }] };
		const { result, audit } = await under(safety, [use("t"), finish], { tools: [tool], memoryClient, host });
		expect(await memoryClient.read(result.sessionId as string)).toEqual([]);
		expect(audit).toHaveLength(1);
		const facts = (await host.journal.read(result.sessionId as string)).map(({ fact }) => fact);
		const at = facts.findIndex((fact) => fact.kind === "note" && fact.topic === topics.audit);
		expect(facts[at + 1]).toMatchObject({ kind: "decision", topic: topics.reflect, answer: { writes: [] } });
	});
});

describe("a policy engine", () => {
	const engine = (check: (question: PolicyQuestion) => PolicyDecision | Promise<PolicyDecision>) => ({
		check: vi.fn(check),
	});

	test("can block, modify and allow, and gets the subject of its decision [RUN-125]", async () => {
		const tool = spied("t");
		const policyEngine = engine(({ point, subject }) => {
			if (point !== "tool-input") return { action: "allow" };
			const { n } = subject as { n: number };
			if (n === 1) return { action: "block", rule: "ones", code: "NO_ONES" };
			return n === 2 ? { action: "modify", rule: "twos", subject: { n: 22 } } : { action: "allow" };
		});
		const first = { n: 1, to: "ann@example.com" };
		const steps = [use("t", first), use("t", { n: 2 }), use("t", { n: 3 }), finish];
		const { result, audit } = await under({ policyEngine }, steps, { tools: [tool] });
		expect(tool.inputs).toEqual([{ n: 22 }, { n: 3 }]);
		expect(result.actions?.[0]?.error?.code).toBe("NO_ONES");
		expect(audit.map(({ rule, action }) => [rule, action])).toEqual([
			["ones", "blocked"],
			["twos", "modified"],
		]);
		expect(audit[0]?.subject).toMatchObject({ input: { n: 1, to: "[REDACTED:email]" } });
		expect(policyEngine.check.mock.calls[1]?.[0]).toEqual({
			point: "tool-input",
			agentId: "a",
			sessionId: result.sessionId,
			target: "t",
			subject: first,
		});
	});

	test.each([
		["rejects", () => Promise.reject(new Error("down"))],
		[
			"throws",
			(): never => {
				throw new Error("down");
			},
		],
		["does not answer in time", () => new Promise<never>(() => {})],
		["answers nonsense", () => Promise.resolve({ action: "maybe" } as never)],
	])("that %s fails closed: neither tool nor write happens [RUN-124]", async (_, check) => {
		const tool = spied("t");
		const memoryClient = inMemoryClient();
		const safety = { policyEngine: engine(check), policyTimeoutMs: 10, safetyBudget: 1 };
		const { result, audit } = await under(safety, [use("t"), use("t"), finish], {
			tools: [tool],
			memoryClient,
		});
		expect(result.error?.code).toBe("SAFETY_VIOLATION");
		expect(result.actions?.[0]?.error?.code).toBe("POLICY_ERROR");
		expect(tool.inputs).toEqual([]);
		expect(audit).toHaveLength(2);
		const failing = engine(({ point }) => (point === "memory-write" ? check() : { action: "allow" }));
		const writing = await under({ ...safety, policyEngine: failing }, [use("t"), finish], {
			tools: [tool],
			memoryClient,
		});
		expect(await memoryClient.read(writing.result.sessionId as string)).toEqual([]);
		expect(writing.audit).toMatchObject([{ point: "memory-write", action: "blocked" }]);
	});

	test("can leave a step to a person: the run waits, and runs or reports it as decided", async () => {
		for (const approved of [true, false]) {
			const tool = spied("t");
			const policyEngine = engine(({ point }) =>
				point === "tool-input" ? { action: "ask", rule: "big" } : { action: "allow" },
			);
			const agent = made([use("t", 1), finish], { tools: [tool], safety: { policyEngine } });
			const session = agent.createSession();
			const running = session.run();
			const engineSession = agent.engine.session(session.id);
			await expect.poll(() => engineSession.pending()).toHaveLength(1);
			expect(tool.inputs).toEqual([]);
			const toolCallId = (await engineSession.pending())[0]?.toolCallId as string;
			const answer = { toolCallId, approved, ...(approved ? {} : { reason: "not today" }) };
			void (await engineSession.answer([answer])).result();
			const result = await running;
			expect(result.success).toBe(true);
			expect(tool.inputs).toEqual(approved ? [1] : []);
			expect(result.actions?.[0]?.ok).toBe(approved);
			expect(await agent.audit(session.id)).toMatchObject([{ rule: "big", action: "asked" }]);
		}
	});
});

describe("a decision at planner-output", () => {
	const types: readonly RunnerStep[] = [
		use("t", { n: 1 }),
		{ type: "message", message: "hello" },
		{ type: "finish", input: "over" },
		{ type: "internal", message: "thinking" },
	];
	const at = (decision: (subject: RunnerStep) => PolicyDecision): SafetyConfig => {
		let asked = 0;
		const check = ({ point, subject }: PolicyQuestion): PolicyDecision =>
			point === "planner-output" && asked++ === 0 ? decision(subject as RunnerStep) : { action: "allow" };
		return { policyEngine: { check } };
	};

	test.each(types)("modify changes a step %j, and is recorded", async (step) => {
		const tool = spied("t");
		const changed =
			step.type === "tool" || step.type === "finish" ? { input: "changed" } : { message: "changed" };
		const safety = at((subject) => ({ action: "modify", rule: "r", subject: { ...subject, ...changed } }));
		const { result, audit } = await under(safety, [step, finish], { tools: [tool] });
		expect(audit).toMatchObject([{ rule: "r", action: "modified" }]);
		if (step.type === "tool") expect(tool.inputs).toEqual(["changed"]);
		else if (step.type === "finish") expect(JSON.stringify(result)).toContain("changed");
		else expect(JSON.stringify(result)).not.toContain(step.message);
	});

	test.each(types)("a modify that returns no such step blocks %j", async (step) => {
		for (const subject of [undefined, "text", { type: "tool", toolId: "other" }, { type: "nonsense" }]) {
			const tool = spied("t");
			const safety = at(() => ({ action: "modify", rule: "r", subject }));
			const { result, audit } = await under(safety, [step, finish], { tools: [tool, spied("other")] });
			expect(audit).toMatchObject([{ rule: "r", action: "blocked" }]);
			expect(result.actions?.[0]).toMatchObject({ ok: false, error: { code: "POLICY_ERROR" } });
			expect(tool.inputs).toEqual([]);
		}
	});

	test.each(types.slice(1))("ask blocks a step %j, which cannot be asked about", async (step) => {
		const { result, audit } = await under(
			at(() => ({ action: "ask", rule: "r" })),
			[step, finish],
		);
		expect(audit).toMatchObject([{ rule: "r", action: "blocked" }]);
		expect(result.actions?.[0]).toMatchObject({ ok: false, error: { code: "POLICY_ERROR" } });
	});

	test("ask does not permit a tool's input that the engine blocks", async () => {
		const tool = spied("t");
		const check = ({ point }: PolicyQuestion): PolicyDecision =>
			point === "planner-output"
				? { action: "ask", rule: "r" }
				: point === "tool-input"
					? { action: "block", rule: "inputs" }
					: { action: "allow" };
		const steps = [use("t", 1)];
		const { result } = await under({ policyEngine: { check }, safetyBudget: 0 }, steps, { tools: [tool] });
		expect(result.error?.code).toBe("SAFETY_VIOLATION");
		expect(tool.inputs).toEqual([]);
	});
});

describe("protective options", () => {
	test.each<[string, object]>([
		["safety.toolAlowlist", { safety: { toolAlowlist: [] } }],
		["safety.toolAllowlist", { safety: { toolAllowlist: "t" } }],
		["safety.requestRateLimit", { safety: { requestRateLimit: { t: { max: "1", windowMs: 1 } } } }],
		["safety.contentFilter", { safety: { contentFilter: "word" } }],
		["safety.writeFilters", { safety: { writeFilters: [{ match: "x", action: "redakt" }] } }],
		["safety.secrets", { safety: { secrets: "s3cret" } }],
		["safety.policyEngine", { safety: { policyEngine: () => ({ action: "block" }) } }],
		["safety.policyTimeoutMs", { safety: { policyTimeoutMs: Number.NaN } }],
		["safety.rbac", { safety: { rbac: { roles: "admin", permissions: {} } } }],
		["safety", { safety: "strict" }],
		["saftey", { saftey: {} }],
		["allowShell", { allowShell: "false" }],
		["logToolInputs", { logToolInputs: "none" }],
	])("%s of a wrong name or type is rejected", (path, options) => {
		expect(() => made([], options)).toThrow(
			expect.objectContaining({ code: "CONFIG_INVALID", data: { paths: [path] } }),
		);
	});

	test.each([
		{ needsApproval: true },
		{ approval: () => false },
		{ requires: "netwrok" },
		{ safeByDefault: "false" },
		{ timeoutMs: Number.NaN },
	])("a tool with %o is rejected", (options) => {
		expect(() => made([], { tools: [spied("t", options as never)] })).toThrow(
			expect.objectContaining({ code: "TOOL_INVALID" }),
		);
	});
});

test("nothing happens without an audit record: a sink that fails prevents the tool and the write [RUN-126]", async () => {
	const tool = spied("t");
	const memoryClient = inMemoryClient();
	const auditSink = { write: vi.fn(() => Promise.reject(new Error("disk full"))) };
	const sanitizers = [() => ({ allowed: "even so" })];
	const { result } = await under({ auditSink, sanitizers }, [use("t", 1), finish], {
		tools: [tool],
		memoryClient,
	});
	expect(tool.inputs).toEqual([]);
	expect(result.actions?.[0]?.error?.code).toBe("AUDIT_WRITE_FAILED");
	const filtered: SafetyConfig = { auditSink, writeFilters: [{ match: "did", action: "redact" }] };
	const writing = await under(filtered, [use("t", 1), finish], { tools: [tool], memoryClient });
	expect(writing.result.error?.code).toBe("AUDIT_WRITE_FAILED");
	expect(await memoryClient.read(writing.result.sessionId as string)).toEqual([]);
	const notes: RunnerTool = {
		id: "notes",
		run: (_, { memory }) => memory.append("notes", "it did").catch((error) => error.code),
	};
	const byTool = await under(filtered, [use("notes"), finish], { tools: [notes], memoryClient });
	expect(byTool.result.actions?.[0]?.output).toBe("AUDIT_WRITE_FAILED");
	expect(await memoryClient.read("notes")).toEqual([]);
});

test("no prompt is sent and no call is retried without an audit record of policy's decision [RUN-126]", async () => {
	const auditSink = { write: () => Promise.reject(new Error("disk full")) };
	const decisions: readonly PolicyDecision[] = [
		{ action: "modify", rule: "less", subject: [{ role: "user", content: "less" }] },
		{ action: "block", rule: "no" },
	];
	for (const decision of decisions) {
		const client = stubClient([finish]);
		const policyEngine = {
			check: ({ point }: PolicyQuestion): PolicyDecision =>
				point === "model-prompt" ? decision : { action: "allow" },
		};
		const more = { planner: undefined as never, modelProviders: [client] };
		const { result } = await under({ auditSink, policyEngine }, [], more);
		expect(result.error?.code).toBe("AUDIT_WRITE_FAILED");
		expect(client.prompts).toEqual([]);
	}
	const run = vi.fn(() => Promise.reject(Object.assign(new Error("again"), { retriable: true })));
	const safety = { auditSink, requestRateLimit: { t: { max: 1, windowMs: 60_000 } } };
	const { result } = await under(safety, [use("t"), finish], {
		tools: [{ id: "t", run, retry: { baseDelayMs: 0 } }],
	});
	expect(run).toHaveBeenCalledTimes(1);
	expect(result.actions?.[0]?.error?.code).toBe("AUDIT_WRITE_FAILED");
});

test("a sink gets exactly the records that are in the journal [RUN-125]", async () => {
	const sunk: AuditRecord[] = [];
	const auditSink = { write: (record: AuditRecord) => void sunk.push(record) };
	const { audit } = await under({ auditSink, toolDenylist: ["t"] }, [use("t"), finish], {
		tools: [spied("t")],
	});
	expect(sunk).toEqual(audit);
	expect(sunk).toHaveLength(1);
});

test("roles: without the permission nothing is created, and the denial is recorded [RUN-134]", async () => {
	const records: AuditRecord[] = [];
	const auditSink = { write: (record: AuditRecord) => void records.push(record) };
	const permissions = { maker: ["agent:create"], owner: ["agent:create", "tool:register"] };
	const codeOf = (make: () => unknown): string | undefined => {
		try {
			make();
		} catch (error) {
			return isHoldfastError(error) ? error.code : String(error);
		}
		return undefined;
	};
	const by = (...roles: string[]) => ({ auditSink, rbac: { roles, permissions } });
	expect(codeOf(() => made([], { safety: by("guest") }))).toBe("RBAC_DENIED");
	expect(codeOf(() => made([], { safety: by() }))).toBe("RBAC_DENIED");
	expect(codeOf(() => made([], { safety: by("__proto__") }))).toBe("RBAC_DENIED");
	const agent = made([], { safety: by("maker") });
	expect(codeOf(() => agent.registerTool(spied("t")))).toBe("RBAC_DENIED");
	expect(agent.getTool("t")).toBeUndefined();
	await expect
		.poll(() => records.map(({ action, rule }) => [action, rule]))
		.toEqual([
			["denied", "agent:create"],
			["denied", "agent:create"],
			["denied", "agent:create"],
			["denied", "tool:register"],
		]);
	const owner = made([], { safety: by("owner") });
	owner.registerTool(spied("t"));
	expect(owner.getTool("t")).toBeDefined();
});

// Tools: how they are registered, tried, timed, and what is made of what they give.
import { isHoldfastError } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { configured, echo, finish, made, use } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import type {
	ActionResult,
	AgentConfig,
	AgentResult,
	RunnerTool,
	RunnerToolContext,
} from "../contract/index.ts";

const quick = { retry: { baseDelayMs: 0 } };
const retriable = (message = "again") => Object.assign(new Error(message), { retriable: true });

async function running(
	tool: RunnerTool,
	input?: unknown,
	more: Partial<AgentConfig> = {},
): Promise<{ action: ActionResult; result: AgentResult }> {
	const result = await made([use(tool.id, input), finish], { tools: [tool], ...more }).runOnce();
	return { action: result.actions?.[0] as ActionResult, result };
}

function codeOf(call: () => unknown): string | undefined {
	try {
		call();
	} catch (error) {
		return isHoldfastError(error) ? error.code : String(error);
	}
	return undefined;
}

describe("the registry", () => {
	test("returns tools with all their members; a repeated id and a malformed schema are rejected [RUN-065]", async () => {
		const agent = made([use("later", 1), finish]);
		expect((await agent.runOnce()).actions?.[0]?.error?.code).toBe("TOOL_NOT_FOUND");
		const later: RunnerTool = {
			id: "later",
			description: "Added.",
			idempotent: true,
			schema: { type: "number" },
			run: () => "ran",
		};
		agent.registerTool(later);
		expect(agent.getTool("later")).toBe(later);
		expect(agent.getTool("nobody")).toBeUndefined();
		expect(agent.listTools()).toEqual([echo, later]);
		expect(codeOf(() => agent.registerTool({ ...later }))).toBe("TOOL_DUPLICATE");
		expect(codeOf(() => agent.registerTool({ id: "bad", schema: { type: "nonsense" }, run: () => 1 }))).toBe(
			"SCHEMA_INVALID",
		);
		expect(codeOf(() => agent.registerTool({ id: "bad" } as never))).toBe("TOOL_INVALID");
		expect(codeOf(() => new RunnerAgent(configured([], { tools: [echo, echo] })))).toBe("TOOL_DUPLICATE");
		expect(agent.listTools()).toHaveLength(2);
		expect((await agent.runOnce()).actions?.[0]?.output).toBe("ran");
	});
});

describe("the result of a tool", () => {
	test.each([[5], ["text"], [null], [{ a: [1] }], [[1, 2]], [{ ok: "yes" }], [{ ok: true, other: 1 }]])(
		"%j is its output [RUN-067]",
		async (value) => {
			expect((await running({ id: "t", run: () => value })).action).toMatchObject({
				ok: true,
				output: value,
			});
		},
	);

	test("as {ok: false} is a failed action, retried only if it is marked so [RUN-067]", async () => {
		for (const [meta, attempts] of [
			[{}, 1],
			[{ retriable: true }, 3],
			[{ retriable: false }, 1],
		] as const) {
			const run = vi.fn(() => ({ ok: false, output: "no", meta: { code: "MINE", ...meta } }));
			const { action, result } = await running({ id: "t", run, ...quick });
			expect(action).toMatchObject({ ok: false, output: "no", error: { code: "MINE" }, attempts });
			expect(run).toHaveBeenCalledTimes(attempts);
			expect(result.success).toBe(true);
		}
	});

	test.each([
		[() => 1n],
		[() => () => 1],
		[() => Symbol("x")],
		[
			() => {
				const a: unknown[] = [];
				a.push(a);
				return a;
			},
		],
	])("that is not plain data is a failed action", async (make) => {
		const { action } = await running({ id: "t", run: () => make() });
		expect(action).toMatchObject({ ok: false, error: { code: "TOOL_OUTPUT_INVALID" } });
	});
});

describe("an error of a tool", () => {
	test("that is not marked as temporary is tried once, and ends the run [RUN-068]", async () => {
		const run = vi.fn(() => Promise.reject(new Error("broken")));
		const { result } = await running({ id: "t", run, ...quick });
		expect(result).toMatchObject({
			success: false,
			error: { code: "TOOL_FATAL", message: "broken" },
			steps: 1,
		});
		expect(run).toHaveBeenCalledTimes(1);
	});

	test("is retried if it, or the tool, is marked as temporary [RUN-068] [RUN-069]", async () => {
		for (const tool of [
			{ run: vi.fn(() => Promise.reject(retriable())) },
			{ run: vi.fn(() => Promise.reject(new Error("again"))), classify: () => "retriable" as const },
		]) {
			const { action, result } = await running({ id: "t", ...tool, ...quick });
			expect(tool.run).toHaveBeenCalledTimes(3);
			expect(action).toMatchObject({ ok: false, attempts: 3, error: { message: "again" } });
			expect(result).toMatchObject({ success: true, steps: 2 });
		}
		const run = vi.fn(() => Promise.reject(retriable()));
		await running({ id: "t", run, retry: { maxAttempts: 5, baseDelayMs: 0 } });
		expect(run).toHaveBeenCalledTimes(5);
		await running({ id: "t", run }, 1, { retry: { maxAttempts: 2, baseDelayMs: 0 } });
		expect(run).toHaveBeenCalledTimes(7);
		const fatal = vi.fn(() => Promise.reject(new Error("x")));
		expect(
			(await running({ id: "t", run: fatal, classify: () => "fatal", ...quick })).result.error?.code,
		).toBe("TOOL_FATAL");
	});

	test("waits longer before each retry [RUN-069]", async () => {
		const waits: number[] = [];
		const timers = {
			after(milliseconds: number, wake: () => void) {
				const isBackoff = milliseconds < 30_000;
				if (isBackoff) waits.push(milliseconds);
				const timer = isBackoff ? setImmediate(wake) : undefined;
				return () => timer && clearImmediate(timer);
			},
		};
		const tool = {
			id: "t",
			run: () => Promise.reject(retriable()),
			retry: { maxAttempts: 5, baseDelayMs: 100 },
		};
		await running(tool, undefined, { ports: { timers } });
		expect(waits).toHaveLength(4);
		for (const [at, wait] of waits.entries()) {
			expect(wait).toBeGreaterThanOrEqual(50 * 2 ** at);
			expect(wait).toBeLessThanOrEqual(100 * 2 ** at);
		}
	});
});

describe("a tool over its timeout", () => {
	test("gets an abort and yields TOOL_TIMEOUT; only an idempotent one is retried [RUN-070]", async () => {
		for (const idempotent of [false, true]) {
			const signals: AbortSignal[] = [];
			const run = (_: unknown, { signal }: RunnerToolContext) => {
				signals.push(signal);
				return new Promise(() => {});
			};
			const { action, result } = await running({ id: "t", run, timeoutMs: 10, idempotent, ...quick });
			expect(action).toMatchObject({
				ok: false,
				error: { code: "TOOL_TIMEOUT" },
				attempts: idempotent ? 3 : 1,
			});
			expect(signals.map(({ aborted }) => aborted)).toEqual(Array(idempotent ? 3 : 1).fill(true));
			expect(result.success).toBe(true);
		}
	});

	test("has 30 seconds by default [RUN-070]", async () => {
		const asked: number[] = [];
		const timers = {
			after: (milliseconds: number) => {
				asked.push(milliseconds);
				return () => {};
			},
		};
		await running({ id: "later", run: async () => 1 }, 1, { ports: { timers } });
		expect(asked).toContain(30_000);
	});
});

test("latency is the time of all attempts and calls of a tool, by its id [RUN-031]", async () => {
	let now = 0;
	const clock = { now: () => now, monotonic: () => now };
	let calls = 0;
	const slow: RunnerTool = {
		id: "slow",
		...quick,
		run: () => {
			now += 10;
			if (++calls === 1) throw retriable();
			return 1;
		},
	};
	const { metrics } = await made([use("slow"), use("slow"), finish], {
		tools: [slow],
		ports: { clock },
	}).runOnce();
	expect(metrics).toEqual({ durationMs: 30, toolLatencyMs: { slow: 30 } });
});

test("attachments under one name are stored once, the last one, across all tools [RUN-031] [RUN-032]", async () => {
	const given = ["one", "two", "three"];
	const tool: RunnerTool = {
		id: "constructor",
		run: () => ({ ok: true, output: 1, meta: { attachments: { toString: given.shift() as string } } }),
	};
	const steps = [use("constructor"), use("constructor"), use("constructor"), finish];
	const { attachments, diagnostics, metrics } = await made(steps, { tools: [tool] }).runOnce();
	expect(attachments).toEqual({ toString: "three" });
	const again = 'The attachment "toString" was added twice; the later one is kept.';
	expect(diagnostics?.warnings).toEqual([again, again]);
	expect(metrics?.toolLatencyMs).toEqual({ constructor: expect.any(Number) });
});

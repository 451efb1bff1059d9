import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";
import { systemPorts } from "../host/ports.ts";
import { gate } from "../sessions/sessions.fixture.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";

const script = [{ toolCalls: [{ name: "slow", id: "c" }] }, "done"];
const day = 24 * 60 * 60_000;

describe("timeoutMs of a tool with a function", () => {
	function hanging() {
		const contexts: ToolContext[] = [];
		const returned = gate();
		const slow: AnyTool = {
			...anyTool("slow", (_, context) => {
				contexts.push(context as ToolContext);
				return returned.promise.then(() => "too late");
			}),
			timeoutMs: 5,
		};
		return { slow, contexts, returned };
	}

	test.each(["call", "session"])(
		"ends a %s's wait for a function that never returns, and aborts its signal",
		async (place) => {
			const { slow, contexts, returned } = hanging();
			const model = scriptedModel(script);
			const agent = new Agent({ model, tools: [slow], host: memoryHost() });
			const { turn } =
				place === "call"
					? await agent.generate("go")
					: { turn: (await (await agent.session("s").send("go")).result()) as never as { text: string } };
			expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("did not finish within 5 ms");
			expect(contexts[0]?.signal.aborted).toBe(true);
			expect(turn).toBeDefined();
			returned.open();
		},
	);

	test("is recorded as expired, and the function's later result is ignored", async () => {
		const { slow, returned } = hanging();
		const host = memoryHost();
		const agent = new Agent({ model: scriptedModel(script), tools: [slow], host });
		await (await agent.session("s").send("go")).result();
		returned.open();
		await returned.promise;
		const facts = (await host.journal.read("s")).map(({ fact }) => fact);
		expect(facts.filter(({ kind }) => kind === "tool.settled")).toMatchObject([{ outcome: "expired" }]);
	});

	test("does not affect a function that returns in time", async () => {
		const quick: AnyTool = { ...anyTool("slow", async () => "in time"), timeoutMs: 30 * day };
		const model = scriptedModel(script);
		await new Agent({ model, tools: [quick] }).generate("go");
		expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("in time");
	});
});

describe("durations", () => {
	const tool = (timeoutMs: number, options: Partial<AnyTool> = {}): AnyTool => ({
		...anyTool("slow", () => "ran"),
		...options,
		timeoutMs,
	});
	const options: readonly [string, (value: number) => object][] = [
		["timeoutMs of a tool", (value) => ({ tools: [tool(value)] })],
		["remoteToolTimeoutMs", (remoteToolTimeoutMs) => ({ remoteToolTimeoutMs })],
		["keepDeltasMs", (keepDeltasMs) => ({ keepDeltasMs })],
	];

	test.each(options)(
		"%s of 0, below or not a number is rejected; 30 days, 60 days and Infinity are accepted",
		(_, given) => {
			const make = (value: number) => new Agent({ model: scriptedModel([]), ...given(value) });
			for (const value of [0, -1, Number.NaN, "5" as never]) expect(() => make(value)).toThrow();
			for (const value of [30 * day, 60 * day, Number.POSITIVE_INFINITY])
				expect(() => make(value)).not.toThrow();
		},
	);

	test.each([30 * day, 60 * day, Number.POSITIVE_INFINITY])(
		"a remote call of %d ms waits instead of expiring at once",
		async (timeoutMs) => {
			const remote = tool(timeoutMs, { run: undefined as never });
			const agent = new Agent({ model: scriptedModel(script), tools: [remote], host: memoryHost() });
			const session = agent.session("s");
			const { pending } = await (await session.send("go")).result();
			const { deadline } = pending?.[0] ?? {};
			if (timeoutMs === Number.POSITIVE_INFINITY) expect(deadline).toBeUndefined();
			else expect(deadline).toBeGreaterThan(Date.now() + timeoutMs - day);
			expect(await session.pending()).toHaveLength(1);
		},
	);

	describe("of the system's timers", () => {
		beforeEach(() => void vi.useFakeTimers());
		afterEach(() => void vi.useRealTimers());

		test("work beyond the maximum of the platform's timers", () => {
			let woken = 0;
			systemPorts.timers.after(60 * day, () => woken++);
			systemPorts.timers.after(Number.POSITIVE_INFINITY, () => woken++);
			const callOff = systemPorts.timers.after(60 * day, () => woken++);
			vi.advanceTimersByTime(30 * day);
			callOff();
			vi.advanceTimersByTime(30 * day - 1);
			expect(woken).toBe(0);
			vi.advanceTimersByTime(1);
			expect(woken).toBe(1);
			vi.advanceTimersByTime(300 * day);
			expect([woken, vi.getTimerCount()]).toEqual([1, 0]);
		});
	});
});

test("a message sent to a run in its last step starts a new turn, and the run has its answer", async () => {
	const asked = gate();
	const said = gate();
	const model = scriptedModel(async (_, call) => {
		if (call === 0) {
			asked.open();
			await said.promise;
		}
		return `answer ${call}`;
	});
	const session = new Agent({ model, maxSteps: 1, host: memoryHost() }).session("s");
	const run = await session.send("go");
	const result = run.result();
	await asked.promise;
	const steered = await session.steer("and this?");
	said.open();
	expect(await result).toMatchObject({ outcome: "completed", text: "answer 0" });
	const next = await session.send("more");
	expect(await next.result()).toMatchObject({ outcome: "completed" });
	expect(model.requests.length).toBeGreaterThan(1);
	expect(steered).toBeDefined();
});

import { type ScriptedCall, scriptedModel } from "@holdfast/testing";
import { type AssistantMessage, type ToolResultMessage, UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AnyTool } from "../tools/types.ts";
import { atRest, faultsOfHistory } from "./engine.fixture.ts";

const initial = AgentState.initial();

/** Runs one round of calls and an answer. */
async function round(calls: readonly ScriptedCall[], tools: readonly AnyTool[]) {
	const model = scriptedModel([{ toolCalls: calls }, "Done."]);
	const { turn, state } = await agent({ model, tools }).generate("go", initial);
	expect(faultsOfHistory(state.messages)).toEqual([]);
	return { turn, state, model, results: turn.toolExecutions.map((each) => each.result) };
}

/** Tools that record when they start and end, and end when the test releases them. */
function gatedTools(names: Record<string, Partial<AnyTool>>) {
	const log: string[] = [];
	const gates = new Map<string, () => void>();
	const tools = Object.entries(names).map(([name, options]) =>
		anyTool(
			name,
			async ({ as = name }) => {
				log.push(`${as} starts`);
				await new Promise<void>((resolve) => gates.set(as as string, resolve));
				log.push(`${as} ends`);
				return as;
			},
			options,
		),
	);
	const release = async (name: string): Promise<void> => {
		await atRest();
		const gate = gates.get(name);
		if (gate === undefined) throw new Error(`${name} did not start: ${log}`);
		gate();
		await atRest();
	};
	return { tools, log, release };
}

describe("the order of calls in a round", () => {
	test("calls run in parallel, and their results are in call order [UAP-082]", async () => {
		const { tools, log, release } = gatedTools({ a: {}, b: {}, c: {} });
		const running = round([{ name: "a" }, { name: "b" }, { name: "c" }], tools);
		await atRest();
		expect(log).toEqual(["a starts", "b starts", "c starts"]);
		for (const name of ["c", "b", "a"]) await release(name);
		const { results, state } = await running;
		expect(results).toEqual(["a", "b", "c"]);
		expect((state.messages[2] as ToolResultMessage).results.map((each) => each.result)).toEqual([
			"a",
			"b",
			"c",
		]);
	});

	test("any number of sequential calls in one answer may return immediately", async () => {
		const calls = Array.from({ length: 1_000 }, () => ({ name: "only" }));
		const { results } = await round(calls, [anyTool("only", () => "at once", { sequential: true })]);
		expect(new Set(results)).toEqual(new Set(["at once"]));
		expect(results.length).toBe(1_000);
	});

	test("a sequential call ends before any other starts, and several run in call order [UAP-083]", async () => {
		const { tools, log, release } = gatedTools({ free: {}, only: { sequential: true } });
		const running = round(
			[
				{ name: "free" },
				{ name: "only", arguments: { as: "s1" } },
				{ name: "only", arguments: { as: "s2" } },
			],
			tools,
		);
		await release("s1");
		expect(log).toEqual(["s1 starts", "s1 ends", "s2 starts"]);
		await release("s2");
		expect(log.slice(3)).toEqual(["s2 ends", "free starts"]);
		await release("free");
		expect((await running).results).toEqual(["free", "s1", "s2"]);
	});

	test("a tool that depends on another waits for all its calls of the round, including failed ones [UAP-084]", async () => {
		const { tools, log, release } = gatedTools({
			read_file: {},
			write: { dependsOn: ["read_file", "not_called"] },
			not_called: {},
		});
		const failing = anyTool("fails", () => {
			throw new Error("no");
		});
		const running = round(
			[
				{ name: "write" },
				{ name: "read_file", arguments: { as: "r1" } },
				{ name: "read_file", arguments: { as: "r2" } },
			],
			tools,
		);
		await release("r2");
		expect(log).not.toContain("write starts");
		await release("r1");
		expect(log.at(-1)).toBe("write starts");
		await release("write");
		await running;
		const afterFailure = await round(
			[{ name: "second" }, { name: "fails" }],
			[failing, anyTool("second", () => "ran", { dependsOn: ["fails"] })],
		);
		expect(afterFailure.results).toEqual(["ran", "no"]);
	});

	test("calls that wait for themselves get results that explain it, and the run continues [UAP-085]", async () => {
		const ran: string[] = [];
		const tool = (name: string, options: Partial<AnyTool>): AnyTool =>
			anyTool(name, () => ran.push(name), options);
		const byTool = await round(
			[{ name: "a" }, { name: "b" }, { name: "free" }],
			[tool("a", { dependsOn: ["b"] }), tool("b", { dependsOn: ["a"] }), tool("free", {})],
		);
		expect(ran).toEqual(["free"]);
		expect(byTool.results[0]).toMatch(/waits for itself: a .* waits for b .* which waits for a/);
		expect(byTool.turn.toolExecutions.map((each) => each.isError)).toEqual([true, true, false]);
		const byCall = await round(
			[
				{ name: "free", id: "x", after: ["y"] },
				{ name: "free", id: "y", after: ["x"] },
			],
			[tool("free", {})],
		);
		expect(byCall.turn.toolExecutions.map((each) => each.isError)).toEqual([true, true]);
		expect(byCall.turn.response.text).toBe("Done.");
	});

	test("calls with `after` start when the named ones have settled; unknown ids are ignored [UAP-086]", async () => {
		const { tools, log, release } = gatedTools({ read_file: {}, process: {}, write_file: {} });
		const running = round(
			[
				{ name: "write_file", id: "call_3", after: ["call_2", "never_seen"] },
				{ name: "process", id: "call_2", after: ["call_1"] },
				{ name: "read_file", id: "call_1", after: ["also_unknown"] },
			],
			tools,
		);
		for (const name of ["read_file", "process", "write_file"]) await release(name);
		expect(log).toEqual(
			["read_file", "process", "write_file"].flatMap((name) => [`${name} starts`, `${name} ends`]),
		);
		expect((await running).results).toEqual(["write_file", "process", "read_file"]);
	});
});

describe("calls that cannot be carried out", () => {
	test("a tool that throws and an unknown name become error results, and the run continues [UAP-033]", async () => {
		const { model, turn } = await round(
			[{ name: "breaks" }, { name: "nope" }, { name: "works" }],
			[
				anyTool("breaks", () => {
					throw new Error("it broke");
				}),
				anyTool("works", () => "fine"),
			],
		);
		expect(lines(model.requests[1]?.messages ?? []).at(-1)).toBe(
			'results: it broke!, There is no tool "nope". Available tools: breaks, works.!, fine',
		);
		expect(turn.response.text).toBe("Done.");
	});

	test("arguments that do not fit are reported to the model, and the tool is not started", async () => {
		const ran: unknown[] = [];
		const strict = anyTool("strict", (params) => ran.push(params), {
			parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
		});
		const { results } = await round([{ name: "strict", arguments: { n: "x" } }], [strict]);
		expect(ran).toEqual([]);
		expect(results[0]).toMatch(/n.*integer/);
	});

	test("a schema whose check rejects or throws becomes a result and does not end the run", async () => {
		const schema = (validate: () => unknown) => ({
			"~standard": { version: 1, vendor: "own", validate, jsonSchema: { input: () => ({ type: "object" }) } },
		});
		const tools = [
			anyTool("throwing", () => "never", {
				parameters: schema(() => {
					throw new Error("schema down");
				}),
			}),
			anyTool("rejecting", () => "never", {
				parameters: schema(async () => Promise.reject(new Error("schema down"))),
			}),
		];
		const { results } = await round([{ name: "throwing" }, { name: "rejecting" }], tools);
		for (const result of results) expect(result).toMatch(/schema down/);
	});

	test("empty and duplicate ids are replaced, so that each call has its own result", async () => {
		const { state, results } = await round(
			[
				{ name: "echo", id: "same", arguments: { text: "a" } },
				{ name: "echo", id: "same", arguments: { text: "b" } },
				{ name: "echo", id: "", arguments: { text: "c" } },
				{ name: "echo", id: "last", arguments: { text: "d" }, after: ["same"] },
			],
			[anyTool("echo", ({ text }) => text)],
		);
		expect(results).toEqual(["a", "b", "c", "d"]);
		const ids = ((state.messages[1] as AssistantMessage).toolCalls ?? []).map((call) => call.toolCallId);
		expect(new Set(ids).size).toBe(4);
		expect([ids[0], ids[3]]).toEqual(["same", "last"]);
	});

	test("a readOn that throws does not prevent the result from being cut", async () => {
		const long = anyTool("long", () => "x".repeat(100), {
			maxModelCharacters: 10,
			readOn: () => {
				throw new Error("readOn");
			},
		});
		const { model, results } = await round([{ name: "long" }], [long]);
		expect(results[0]).toBe("x".repeat(100));
		expect(lines(model.requests[1]?.messages ?? []).at(-1)).toMatch(/^results: x{10}\n\[cut/);
	});
});

describe("tools that outlive their call", () => {
	test("a tool that ignores its signal delays neither the abort nor later work", async () => {
		const begun = Promise.withResolvers<AbortSignal>();
		const deaf = anyTool("deaf", (_, { signal }) => {
			begun.resolve(signal);
			return new Promise(() => {});
		});
		const controller = new AbortController();
		const one = agent({ model: scriptedModel([{ toolCalls: [{ name: "deaf" }] }]), tools: [deaf] });
		const running = one.generate("go", initial, { signal: controller.signal });
		const signal = await begun.promise;
		controller.abort();
		await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
		expect(signal.aborted).toBe(true);
	});

	test("when a run fails, running tools are notified", async () => {
		const cancelled = Promise.withResolvers<unknown>();
		const slow = anyTool("slow", (_, { signal }) => {
			signal.addEventListener("abort", () => cancelled.resolve(signal.reason));
			return new Promise(() => {});
		});
		const error = new Error("hook");
		const one = agent({
			model: scriptedModel([{ toolCalls: [{ name: "slow" }, { name: "quick" }] }]),
			tools: [slow, anyTool("quick", () => "quick")],
			toolStrategy: { onAfterCall: () => Promise.reject(error) },
		});
		await expect(one.generate("go", initial)).rejects.toBe(error);
		const reason = await cancelled.promise;
		expect(reason).toBeInstanceOf(UPPError);
		expect(reason).toMatchObject({ code: "CANCELLED", cause: error });
	});

	test("a session that another process took over while a tool ran is left to it, and nothing hangs", async () => {
		const host = memoryHost();
		const gate = Promise.withResolvers<string>();
		const begun = Promise.withResolvers<void>();
		const slow = anyTool("slow", () => {
			begun.resolve();
			return gate.promise;
		});
		const one = agent({
			model: scriptedModel([{ toolCalls: [{ name: "slow" }] }, "Done."]),
			tools: [slow],
			host,
		});
		const run = await one.session("k").send("go");
		const result = run.result();
		await begun.promise;
		const seized = await host.journal.acquire("k", { mode: "seize" });
		if (!seized.ok) throw new Error("not seized");
		const other = {
			at: 0,
			runId: run.runId,
			facts: [{ kind: "note", step: 1, topic: "t", value: 1 }],
		} as const;
		await seized.lease.append(other);
		gate.resolve("late");
		expect((await result).outcome).toBe("suspended");
		const kinds = (await host.journal.read("k")).map((entry) => entry.fact.kind);
		expect(kinds).not.toContain("tool.settled");
	});
});

test("two agents that are tools of each other keep their histories separate", async () => {
	const inner = agent({
		model: scriptedModel((request) => `inner heard ${lines(request.messages).join("; ")}`),
	});
	const { results } = await round(
		[
			{ name: "ask", arguments: { text: "A" } },
			{ name: "ask", arguments: { text: "B" } },
		],
		[anyTool("ask", async ({ text }) => (await inner.generate(text as string, initial)).turn.response.text)],
	);
	expect(results).toEqual(["inner heard user: A", "inner heard user: B"]);
});

import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { memoryHost } from "../host/memory-host.ts";
import { strategy } from "../strategies/strategy.ts";
import type { AnyTool } from "../tools/types.ts";
import { type AgentSession, createSession, execute } from "./create-session.ts";
import {
	asks,
	faultsOf,
	locate,
	messagesIn,
	only,
	played,
	refusal,
	says,
	shownLast,
	toolResult,
	types,
} from "./execute.fixture.ts";

const prices = { scripted: { input: 1, output: 1 } };
const two = { toolCalls: [asks("a"), asks("b")] };
const pendingOf = (...ids: string[]) => ids.map((id) => ({ id, name: "locate", arguments: { of: id } }));

/** A session whose model follows a script, after its first execution. */
async function begun(
	script: Parameters<typeof scriptedModel>[0],
	tools: readonly AnyTool[] = [],
): Promise<{ session: AgentSession; model: ScriptedModel; first: Awaited<ReturnType<typeof played>> }> {
	const model = scriptedModel(script);
	const session = createSession("s", { tools: [locate, ...tools] }, { model, prices });
	const first = await played(execute(session, says("go")));
	expect(faultsOf(first.events)).toEqual([]);
	return { session, model, first };
}

const look: AnyTool = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" },
	async *execute(id: string) {
		yield { type: "delta", delta: "…" };
		yield { type: "complete", output: `seen by ${id}` };
	},
};
const fails: AnyTool = { ...look, name: "fails", execute: () => Promise.reject(new Error("no luck")) };

test("an execution whose model calls a remote tool ends with the awaited calls, and runs nothing [API-026]", async () => {
	const { first } = await begun([{ text: "See", ...two }]);
	expect(first.events.at(-1)).toEqual({
		type: "awaiting_tool_execution",
		sessionId: "s",
		toolCalls: pendingOf("a", "b"),
	});
	for (const type of types(first.events)) expect(type).not.toMatch(/session_end|tool_execution_/);
});

test("a waiting session, its result and the event list the same pending calls [API-027]", async () => {
	const model = scriptedModel([two]);
	const session = createSession("s", { tools: [locate] }, { model });
	const stream = execute(session, says("go"));
	for await (const event of stream) {
		if (event.type !== "awaiting_tool_execution") continue;
		expect(session.status).toBe("awaiting_tool_execution");
		expect(session.pendingToolCalls).toEqual(event.toolCalls);
	}
	const result = await stream.result();
	expect(result.status).toBe("awaiting_tool_execution");
	expect(result.pendingToolCalls).toEqual(pendingOf("a", "b"));
	expect(session.status).toBe("awaiting_tool_execution");
	expect(session.pendingToolCalls).toEqual(pendingOf("a", "b"));
});

test("local calls next to remote ones finish before the session waits [API-028]", async () => {
	const calls = [asks("a"), { name: "look", id: "l" }, asks("b"), { name: "look", id: "m" }];
	const { session, first } = await begun([{ toolCalls: calls }], [look]);
	const ended = only(first.events, "tool_execution_end").map(({ toolCallId }) => toolCallId);
	expect(ended.sort()).toEqual(["l", "m"]);
	expect(session.messages.slice(2)).toMatchObject([
		{ role: "tool", toolCallId: "l", output: "seen by l" },
		{ role: "tool", toolCallId: "m", output: "seen by m" },
	]);
	expect(session.messages).toEqual(first.result.messages);
	expect(session.pendingToolCalls).toEqual(pendingOf("a", "b"));
});

test("a local result next to a remote call is stored when it settles [API-028]", async () => {
	const host = memoryHost();
	const other = Promise.withResolvers<void>();
	const waits: AnyTool = { ...look, name: "waits", execute: () => other.promise.then(() => "waited") };
	const calls = [asks("a"), { name: "look", id: "l" }, { name: "waits", id: "w" }];
	const session = createSession(
		"s",
		{ tools: [locate, look, waits] },
		{ model: scriptedModel([{ toolCalls: calls }]), host },
	);
	const stream = execute(session, says("go"));
	const settled = async () =>
		(await host.journal.read("s")).flatMap(({ fact }) => (fact.kind === "tool.settled" ? [fact.callId] : []));
	await expect.poll(settled).toEqual(["l"]);
	other.resolve();
	expect((await stream.result()).status).toBe("awaiting_tool_execution");
	expect(await settled()).toEqual(["l", "w"]);
});

test("with all results the session emits their messages and calls the model once [API-029]", async () => {
	const calls = [asks("a"), { name: "look", id: "l" }, asks("b")];
	const { session, model } = await begun([{ toolCalls: calls }, "done"], [look]);
	const { events, result } = await played(
		execute(session, [
			{ ...toolResult("b", "lost"), isError: true },
			{ ...toolResult("a"), details: { gps: true } },
		]),
	);
	expect(faultsOf(events)).toEqual([]);
	expect(types(events)).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		"text_delta",
		"text_end",
		"message_end",
		"session_end",
	]);
	expect(messagesIn(events).slice(0, 2)).toMatchObject([
		{ role: "tool", toolCallId: "b", toolName: "locate", output: "lost", isError: true },
		{
			role: "tool",
			toolCallId: "a",
			toolName: "locate",
			output: "at a",
			isError: false,
			details: { gps: true },
		},
	]);
	expect(result.status).toBe("completed");
	expect(model.requests).toHaveLength(2);
	expect(shownLast(model)).toEqual([
		{ toolCallId: "a", result: "at a" },
		{ toolCallId: "l", result: "seen by l" },
		{ toolCallId: "b", result: "lost", isError: true },
	]);
	expect(session.pendingToolCalls).toBeUndefined();
});

test("with some results the session keeps them and awaits the others, at no cost [API-030]", async () => {
	const { session, model } = await begun([two, "done"]);
	const { events, result } = await played(execute(session, [toolResult("b")]));
	expect(faultsOf(events)).toEqual([]);
	expect(events.at(-1)).toEqual({
		type: "awaiting_tool_execution",
		sessionId: "s",
		toolCalls: pendingOf("a"),
	});
	expect(result).toMatchObject({
		status: "awaiting_tool_execution",
		pendingToolCalls: pendingOf("a"),
		cost: 0,
	});
	expect(result.messages).toMatchObject([{ role: "tool", toolCallId: "b" }]);
	expect(session.pendingToolCalls).toEqual(pendingOf("a"));
	expect(model.requests).toHaveLength(1);
	await execute(session, [toolResult("a")]).result();
	expect(shownLast(model)).toMatchObject([{ result: "at a" }, { result: "at b" }]);
});

describe("a rejected input leaves the session unchanged:", () => {
	let session: AgentSession;
	let model: ScriptedModel;
	beforeEach(async () => {
		({ session, model } = await begun([{ toolCalls: [asks("early")] }, two, "done"]));
		await execute(session, [toolResult("early")]).result();
		expect(session.pendingToolCalls).toEqual(pendingOf("a", "b"));
	});

	async function refused(input: Parameters<typeof execute>[1], code: string): Promise<void> {
		const before = [...session.messages];
		expect(await refusal(execute(session, input))).toBe(code);
		expect(session.messages).toEqual(before);
		expect(session.status).toBe("awaiting_tool_execution");
		expect(session.pendingToolCalls).toEqual(pendingOf("a", "b"));
		expect(model.requests).toHaveLength(2);
		// A refused batch stores none of its answers, so the same answer counts as new.
		expect((await execute(session, [toolResult("a", "new"), toolResult("b")]).result()).status).toBe(
			"completed",
		);
	}

	test("a result of an unknown call [API-031]", () =>
		refused([toolResult("a"), toolResult("x")], "unknown_tool_call_id"));
	test("a result of a call in an earlier round [API-031]", () =>
		refused([toolResult("a"), toolResult("early")], "tool_call_settled"));
	test("two results of one call [API-032]", () =>
		refused([toolResult("b"), toolResult("a"), toolResult("a")], "duplicate_tool_result"));
	test("a user's message [API-035]", () => refused(says("Hello?"), "pending_tool_calls"));
	test("an invalid result", () => refused([{ role: "tool", toolCallId: "a" } as never], "invalid_input"));
	test("a result that cannot be serialised", () => {
		const output: Record<string, unknown> = {};
		output.self = output;
		return refused([toolResult("a", output)], "invalid_input");
	});
	test("no results", () => refused([], "invalid_input"));
	test("an approval of a call that waits for its result", () =>
		refused([{ role: "approval", toolCallId: "a", approved: true }], "invalid_input"));
});

test("an identical result may be sent again while others are pending, a different one may not [API-033]", async () => {
	const { session, model } = await begun([two, "done"]);
	await execute(session, [toolResult("a", "Rome")]).result();
	const before = session.messages.length;
	const again = await execute(session, [toolResult("a", "Rome")]).result();
	expect(again).toMatchObject({
		status: "awaiting_tool_execution",
		messages: [],
		pendingToolCalls: pendingOf("b"),
	});
	expect(session.messages).toHaveLength(before);
	const said = { at: "Rome", on: { day: 1, month: 2 } };
	const other = { on: { month: 2, day: 1 }, at: "Rome" };
	const both = await begun([two, "done"]);
	await execute(both.session, [toolResult("a", said)]).result();
	expect((await execute(both.session, [toolResult("a", other)]).result()).messages).toEqual([]);
	expect(await refusal(execute(both.session, [toolResult("a", { ...other, at: "Oslo" })]))).toBe(
		"tool_result_conflict",
	);
	expect(await refusal(execute(session, [toolResult("a", "Oslo")]))).toBe("tool_result_conflict");
	expect(await refusal(execute(session, [{ ...toolResult("a", "Rome"), isError: true }]))).toBe(
		"tool_result_conflict",
	);
	await execute(session, [toolResult("b"), toolResult("a", "Rome")]).result();
	expect(shownLast(model)).toMatchObject([{ result: "Rome" }, { result: "at b" }]);
	expect(session.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
});

test("unawaited results are rejected [API-034]", async () => {
	const { session } = await begun([{ toolCalls: [asks("a")] }, "done"]);
	await execute(session, [toolResult("a")]).result();
	const before = [...session.messages];
	expect(await refusal(execute(session, [toolResult("a")]))).toBe("no_pending_tool_calls");
	expect(session.messages).toEqual(before);
	expect(session.status).toBe("completed");
	const fresh = createSession("fresh", { tools: [locate] }, { model: scriptedModel([]) });
	expect(await refusal(execute(fresh, [toolResult("a")]))).toBe("no_pending_tool_calls");
	expect(fresh).toMatchObject({ status: "idle", messages: [] });
});

test("a result that arrives too late is rejected, and the session shows that it continued [API-034]", async () => {
	const model = scriptedModel([{ toolCalls: [asks("a")] }, "Never mind."]);
	const tools = [{ ...locate, timeoutMs: 5 }];
	const session = createSession("s", { tools }, { model });
	const { pendingToolCalls } = await execute(session, says("go")).result();
	expect(pendingToolCalls).toEqual([{ ...pendingOf("a")[0], deadline: expect.any(Number) }]);
	await expect.poll(() => session.status).toBe("completed");
	expect(session.messages.slice(2)).toMatchObject([{ role: "tool", isError: true }, { role: "assistant" }]);
	const before = [...session.messages];
	expect(await refusal(execute(session, [toolResult("a")]))).toBe("tool_result_expired");
	expect(session.messages).toEqual(before);
});

test("a session whose strategy waits has no calls to answer, shows what it waits for, and continues", async () => {
	const until = Date.now() + 500;
	const late = strategy({
		name: "late",
		decide({ last }) {
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.kind === "wait") return { kind: "model", tag: "act", step: "next" };
			return { kind: "wait", until };
		},
	});
	const options = { model: scriptedModel(["Rested."]), execution: late };
	const session = createSession("s", {}, options);
	const result = execute(session, says("go")).result();
	await expect.poll(() => session.waiting).toEqual({ reason: "strategy", tag: "wait", until });
	expect(await refusal(execute(session, says("now")))).toBe("session_busy");
	expect(await result).toMatchObject({ status: "completed" });
	expect(session.messages.at(-1)).toMatchObject({ role: "assistant" });
});

test("a session whose strategy waits for a message accepts the next one", async () => {
	const asking = strategy({
		name: "asking",
		decide({ last }) {
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.tag === "step-end") return { kind: "model", tag: "act", step: "next" };
			return { kind: "wait" };
		},
	});
	const model = scriptedModel(["Blue it is."]);
	const options = { model, execution: asking };
	const session = createSession("s", {}, options);
	const asked = await execute(session, says("Paint.")).result();
	expect(asked).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [] });
	expect(session.waiting).toEqual({ reason: "strategy", tag: "wait" });
	expect(await execute(session, says("Blue.")).result()).toMatchObject({ status: "completed" });
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "user", "assistant"]);
});

test("a run suspends each time its model calls a remote tool [API-057]", async () => {
	const rounds = 12;
	const script = Array.from({ length: rounds }, (_, round) => ({ toolCalls: [asks(`call ${round}`)] }));
	const { session, model } = await begun([...script, "done"]);
	for (let round = 0; round < rounds; round++) {
		expect(session.pendingToolCalls).toEqual(pendingOf(`call ${round}`));
		await execute(session, [toolResult(`call ${round}`)]).result();
	}
	expect(session.status).toBe("completed");
	expect(model.requests).toHaveLength(rounds + 1);
});

test("a limit of steps counts across all suspensions and ends the run [API-057]", async () => {
	const model = scriptedModel(({ messages }) => ({ toolCalls: [asks(`call ${messages.length}`)] }));
	const session = createSession("s", { tools: [locate] }, { model, maxSteps: 3 });
	let result = await execute(session, says("go")).result();
	for (let round = 0; result.pendingToolCalls !== undefined; round++) {
		expect(round).toBeLessThan(4);
		result = await execute(
			session,
			result.pendingToolCalls.map(({ id }) => toolResult(id)),
		).result();
	}
	expect(result).toMatchObject({ status: "error", error: { code: "max_steps_exceeded" } });
	expect(model.requests).toHaveLength(3);
	expect(session.messages.at(-1)).toMatchObject({ role: "error", code: "max_steps_exceeded" });
});

test("if a local call of a mixed answer fails, the session waits, and no tool runs twice [API-059]", async () => {
	const ran: string[] = [];
	const counted = (tool: AnyTool): AnyTool => ({
		...tool,
		execute: (id: string) => {
			ran.push(id);
			return (tool.execute as (id: string) => unknown)(id);
		},
	});
	const calls = [{ name: "fails", id: "f" }, asks("a"), { name: "look", id: "l" }, asks("b")];
	const { session, model, first } = await begun(
		[{ toolCalls: calls }, "done"],
		[counted(look), counted(fails)],
	);
	expect(first.result).toMatchObject({
		status: "awaiting_tool_execution",
		pendingToolCalls: pendingOf("a", "b"),
	});
	await execute(session, [toolResult("a")]).result();
	const { events, result } = await played(execute(session, [{ ...toolResult("b", "gone"), isError: true }]));
	expect(faultsOf(events)).toEqual([]);
	expect(result.status).toBe("completed");
	expect(ran.sort()).toEqual(["f", "l"]);
	expect(shownLast(model)).toEqual([
		{ toolCallId: "f", result: "no luck", isError: true },
		{ toolCallId: "a", result: "at a" },
		{ toolCallId: "l", result: "seen by l" },
		{ toolCallId: "b", result: "gone", isError: true },
	]);
	const answered = session.messages.flatMap((message) =>
		message.role === "tool" ? [message.toolCallId] : [],
	);
	expect(answered.sort()).toEqual(["a", "b", "f", "l"]);
});

describe("a call that needs approval", () => {
	const write = { ...look, name: "write", needsApproval: true };
	const approves = (approved: boolean, reason?: string) =>
		[{ role: "approval", toolCallId: "w", approved, ...(reason === undefined ? {} : { reason }) }] as const;

	test("runs once a user approves it, and is emitted from its start to its end", async () => {
		const { session, first } = await begun([{ toolCalls: [{ name: "write", id: "w" }] }, "done"], [write]);
		expect(first.result.pendingToolCalls).toEqual([
			{ id: "w", name: "write", arguments: {}, approval: true, runId: expect.any(String) },
		]);
		const { events, result } = await played(execute(session, approves(true)));
		expect(faultsOf(events)).toEqual([]);
		expect(types(events).slice(1, 6)).toEqual([
			"tool_execution_start",
			"tool_execution_delta",
			"tool_execution_end",
			"message_start",
			"message_end",
		]);
		expect(result.status).toBe("completed");
	});

	test("does not run if it is denied, and the model gets the reason", async () => {
		const { session, model } = await begun([{ toolCalls: [{ name: "write", id: "w" }] }, "done"], [write]);
		const { events } = await played(execute(session, approves(false, "not there")));
		expect(only(events, "tool_execution_start")).toEqual([]);
		expect(shownLast(model)).toMatchObject([{ isError: true, result: expect.stringContaining("not there") }]);
	});
});

test("a waiting session is stopped, its calls get results that explain it, and it continues [API-080]", async () => {
	const { session } = await begun([two, "done"]);
	expect(await session.stop()).toBe(true);
	expect([session.status, session.pendingToolCalls]).toEqual(["aborted", undefined]);
	expect(session.messages.slice(2).map(({ role }) => role)).toEqual(["tool", "tool", "aborted"]);
	expect(await session.stop()).toBe(false);
	expect(await execute(session, says("more")).result()).toMatchObject({ status: "completed" });
});

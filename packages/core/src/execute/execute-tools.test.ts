import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage } from "@holdfast/upp";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemPorts, type Timers } from "../host/ports.ts";
import { createSimpleTool } from "../tools/tool.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";
import { createSession, execute } from "./create-session.ts";
import {
	all,
	asks,
	faultsOf,
	locate,
	messagesIn,
	only,
	played,
	says,
	shownLast,
	streamingModel,
	types,
} from "./execute.fixture.ts";
import type { ExecuteEvent } from "./execute-event.ts";

const complete = (output: unknown, details?: unknown) => ({ type: "complete", output, details });
const delta = (text: string) => ({ type: "delta", delta: text });

/** A tool with this `execute` function. */
function local(name: string, execute: AnyTool["execute"], parameters: object = { type: "object" }): AnyTool {
	return { name, label: `The ${name}`, description: `Does ${name}.`, parameters, execute };
}

/** Returns all events of one execution whose model calls each of these tools once and then finishes. */
async function calling(tools: readonly AnyTool[], given: Record<string, unknown> = {}) {
	const calls = tools.map(({ name = "" }) => ({ name, id: `${name}-1`, arguments: given }));
	const model = scriptedModel([{ toolCalls: calls }, "done"]);
	const session = createSession("s", { tools }, { model });
	const { events, result } = await played(execute(session, says("go")));
	expect(faultsOf(events)).toEqual([]);
	expect(result.status).toBe("completed");
	return { events, result, model, session };
}

describe.each([
	["a turn of the event loop", () => new Promise((resolve) => setImmediate(resolve))],
	["five milliseconds", () => new Promise((resolve) => setTimeout(resolve, 5))],
])("a reader that needs %s for each event", (_, pause) => {
	test("gets the start of a call, and each delta, before the tool is called or continues [API-013, API-014]", async () => {
		const log: string[] = [];
		const count = local("count", async function* () {
			for (const number of ["one", "two"]) {
				log.push(`yields ${number}`);
				yield delta(number);
			}
			log.push("completes");
			yield complete("counted");
		});
		const model = scriptedModel([{ text: "a b c", toolCalls: [{ name: "count", id: "c" }] }, "done"]);
		const session = createSession("s", { tools: [count] }, { model });
		for await (const event of execute(session, says("go"))) {
			await pause();
			if (event.type === "tool_execution_start") log.push(`starts ${event.toolCallId}`);
			if (event.type === "tool_execution_delta") log.push(`emitted ${event.delta}`);
			await pause();
		}
		expect(log).toEqual(["starts c", "yields one", "emitted one", "yields two", "emitted two", "completes"]);
	});
});

test("a tool waits a second for an idle reader, and then not again until it reads", async () => {
	const waits: { milliseconds: number; wake: () => void }[] = [];
	const timers: Timers = {
		after(milliseconds, wake) {
			const wait = { milliseconds, wake };
			waits.push(wait);
			return () => void waits.splice(0, waits.length, ...waits.filter((each) => each !== wait));
		},
	};
	const called: string[] = [];
	const look = local("look", async (id: string) => {
		called.push(id);
		return { output: "seen" };
	});
	const ask = (id: string) => ({ toolCalls: [{ name: "look", id }] });
	const model = scriptedModel([ask("a"), ask("b"), ask("c"), "done"]);
	const session = createSession("s", { tools: [look] }, { model, ports: { ...systemPorts, timers } });
	const stream = execute(session, says("go"));
	const reader = stream[Symbol.asyncIterator]();
	await reader.next();
	await expect.poll(() => waits.length).toBe(1);
	expect([waits[0]?.milliseconds, called]).toEqual([1_000, []]);
	waits[0]?.wake();
	await expect.poll(() => called).toEqual(["a", "b", "c"]);
	await session.ready;
	expect(waits).toEqual([]);
	expect((await stream.result()).status).toBe("completed");
});

test("awaiting the result, leaving and a stop each end a tool's wait for its reader", async () => {
	for (const end of ["result", "leave", "stop"] as const) {
		let called = 0;
		const look = local("look", async () => {
			called++;
			return { output: "seen" };
		});
		let waits = false;
		const timers: Timers = {
			after() {
				waits = true;
				return () => {};
			},
		};
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const session = createSession("s", { tools: [look] }, { model, ports: { ...systemPorts, timers } });
		const stop = new AbortController();
		const stream = execute(session, says("go"), { signal: stop.signal });
		const reader = stream[Symbol.asyncIterator]();
		await reader.next();
		await expect.poll(() => waits).toBe(true);
		if (end === "leave") await reader.return?.();
		if (end === "stop") stop.abort();
		const { status } = await stream.result();
		expect([end, status, called]).toEqual([
			end,
			end === "stop" ? "aborted" : "completed",
			end === "stop" ? 0 : 1,
		]);
	}
});

describe("a reader that keeps up", () => {
	test("gets the start of a call before its function is called [API-013]", async () => {
		const log: string[] = [];
		const look = local("look", async (id: string, params: unknown) => {
			log.push(`called ${id} ${JSON.stringify(params)}`);
			return { output: "seen" };
		});
		const calls = ["a", "b"].map((id) => ({ name: "look", id, arguments: { at: id } }));
		const session = createSession(
			"s",
			{ tools: [look] },
			{ model: scriptedModel([{ toolCalls: calls }, "done"]) },
		);
		for await (const event of execute(session, says("go"))) {
			if (event.type !== "tool_execution_start") continue;
			const { toolCallId, toolName, args } = event;
			log.push(`emitted ${toolCallId} ${toolName} ${JSON.stringify(args)}`);
		}
		expect(log).toEqual([
			'emitted a look {"at":"a"}',
			'emitted b look {"at":"b"}',
			'called a {"at":"a"}',
			'called b {"at":"b"}',
		]);
	});

	test("gets each delta before the tool continues with its next [API-014]", async () => {
		const log: string[] = [];
		const count = local("count", async function* () {
			for (const number of ["one", "two", "three"]) {
				log.push(`yields ${number}`);
				yield delta(number);
			}
			log.push("completes");
			yield complete("counted");
		});
		const session = createSession(
			"s",
			{ tools: [count] },
			{ model: scriptedModel([{ toolCalls: [{ name: "count", id: "c" }] }, "done"]) },
		);
		for await (const event of through(through(execute(session, says("go"))))) {
			if (event.type === "tool_execution_delta") log.push(`emitted ${event.delta} of ${event.toolCallId}`);
			if (event.type === "tool_execution_end") log.push("emitted its end");
		}
		expect(log).toEqual([
			"yields one",
			"emitted one of c",
			"yields two",
			"emitted two of c",
			"yields three",
			"emitted three of c",
			"completes",
			"emitted its end",
		]);
	});

	test("that pauses does not keep a tool from running", async () => {
		const called = Promise.withResolvers<void>();
		const look = local("look", async () => called.resolve());
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const session = createSession("s", { tools: [look] }, { model });
		const stream = execute(session, says("go"));
		const reader = stream[Symbol.asyncIterator]();
		await reader.next();
		await called.promise;
		expect((await stream.result()).status).toBe("completed");
	});
});

/** A consumer behind several async steps. */
async function* through(events: AsyncIterable<ExecuteEvent>): AsyncGenerator<ExecuteEvent> {
	yield* events;
}

test("the end of a call has its output and details, and its message follows [API-015]", async () => {
	const look = local("look", async function* () {
		yield delta("looking");
		yield complete("seen", { at: [1, 2] });
	});
	const { events, session } = await calling([look]);
	const from = events.findIndex(({ type }) => type === "tool_execution_end");
	const said = { output: "seen", details: { at: [1, 2] } };
	const message = expect.objectContaining({
		role: "tool",
		toolCallId: "look-1",
		toolName: "look",
		isError: false,
		...said,
	});
	expect(events.slice(from, from + 3)).toEqual([
		{ type: "tool_execution_end", toolCallId: "look-1", ...said },
		{ type: "message_start", role: "tool" },
		{ type: "message_end", message },
	]);
	expect(session.messages[2]).toEqual(message);
});

test("parallel calls each have one start, their deltas and one end; the model gets the results in order [API-016]", async () => {
	const [fastIsDone, lastIsDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const slow = local("slow", async function* () {
		yield delta("s1");
		await lastIsDone.promise;
		yield delta("s2");
		yield complete("slow is done");
	});
	const fast = local("fast", async function* () {
		yield delta("f1");
		yield complete("fast is done");
	});
	const last = local("last", async () => {
		await fastIsDone.promise;
		return { output: "last is done" };
	});
	const calls = ["slow", "fast", "last"].map((name) => ({ name, id: `${name}-1` }));
	const model = scriptedModel([{ toolCalls: calls }, "done"]);
	const session = createSession("s", { tools: [slow, fast, last] }, { model });
	const events: ExecuteEvent[] = [];
	for await (const event of execute(session, says("go"))) {
		events.push(event);
		if (event.type !== "tool_execution_end") continue;
		if (event.toolCallId === "fast-1") fastIsDone.resolve();
		if (event.toolCallId === "last-1") lastIsDone.resolve();
	}
	expect(faultsOf(events)).toEqual([]);
	const deltas = { "slow-1": 2, "fast-1": 1, "last-1": 0 };
	for (const [id, count] of Object.entries(deltas)) {
		const own = events.filter((event) => "toolCallId" in event && event.toolCallId === id);
		expect(types(own)).toEqual([
			"tool_execution_start",
			...Array.from({ length: count }, () => "tool_execution_delta"),
			"tool_execution_end",
		]);
	}
	const ended = only(events, "tool_execution_end").map(({ toolCallId }) => toolCallId);
	expect(ended).toEqual(["fast-1", "last-1", "slow-1"]);
	expect(shownLast(model)).toEqual([
		{ toolCallId: "slow-1", result: "slow is done" },
		{ toolCallId: "fast-1", result: "fast is done" },
		{ toolCallId: "last-1", result: "last is done" },
	]);
});

test("tools that return an iterable or a promise both work, and a promise emits no deltas [API-017]", async () => {
	const streams = local("streams", async function* () {
		yield delta("half ");
		yield complete("whole", { n: 1 });
	});
	const promises = local("promises", async () => ({ output: "kept", details: { n: 2 } }));
	const { events } = await calling([streams, promises]);
	expect(only(events, "tool_execution_delta").map(({ toolCallId }) => toolCallId)).toEqual(["streams-1"]);
	expect(only(events, "tool_execution_end")).toEqual(
		expect.arrayContaining([
			{ type: "tool_execution_end", toolCallId: "streams-1", output: "whole", details: { n: 1 } },
			{ type: "tool_execution_end", toolCallId: "promises-1", output: "kept", details: { n: 2 } },
		]),
	);
	expect(only(events, "tool_execution_end")).toHaveLength(2);
});

test.each([
	[
		"throws",
		() => {
			throw new Error("no fuel");
		},
	],
	["rejects", () => Promise.reject(new Error("no fuel"))],
	[
		"throws between two deltas",
		async function* () {
			yield delta("brr");
			throw new Error("no fuel");
		},
	],
])(
	"a tool that %s ends as an error that names the cause, and the model continues [API-018]",
	async (_, act) => {
		const { events, model } = await calling([local("start", act)]);
		const said = { output: expect.stringContaining("no fuel"), isError: true };
		expect(only(events, "tool_execution_end")).toEqual([
			expect.objectContaining({ toolCallId: "start-1", ...said }),
		]);
		expect(messagesIn(events)[2]).toEqual(
			expect.objectContaining({ role: "tool", toolCallId: "start-1", ...said }),
		);
		expect(model.requests).toHaveLength(2);
		expect(shownLast(model)).toMatchObject([{ isError: true, result: expect.stringContaining("no fuel") }]);
	},
);

test.each([
	["its deltas", ["one ", "two"], "one two"],
	["nothing", [], ""],
])("an iterable that ends without complete returns %s as its output [API-019]", async (_, deltas, output) => {
	const { events } = await calling([
		local("stop", async function* () {
			for (const each of deltas) yield delta(each);
		}),
	]);
	expect(only(events, "tool_execution_end")).toEqual([
		{ type: "tool_execution_end", toolCallId: "stop-1", output },
	]);
});

test("createSimpleTool creates a tool that completes once, or fails [API-020]", async () => {
	const config = { name: "sum", label: "Sum", description: "Adds.", parameters: { type: "object" } };
	const sum = createSimpleTool(config, async (id: string, { a, b }: { a: number; b: number }) => ({
		output: `${id}: ${a + b}`,
		details: { a, b },
	}));
	expect(sum).toMatchObject(config);
	const given = { a: 1, b: 2 };
	const yielded = await all(
		(sum.execute as (id: string, params: object) => AsyncIterable<unknown>)("x", given),
	);
	expect(yielded).toEqual([{ type: "complete", output: "x: 3", details: given }]);
	const broken = createSimpleTool({ ...config, name: "broken" }, async () => {
		throw new Error("out of order");
	});
	const { events } = await calling([sum as AnyTool, broken as AnyTool], given);
	const ended = only(events, "tool_execution_end");
	expect(ended).toHaveLength(2);
	expect(ended).toContainEqual({
		type: "tool_execution_end",
		toolCallId: "sum-1",
		output: "sum-1: 3",
		details: given,
	});
	expect(ended).toContainEqual({
		type: "tool_execution_end",
		toolCallId: "broken-1",
		output: "out of order",
		isError: true,
	});
});

test.each([
	["missing", {}],
	["undefined", { execute: undefined }],
	["null", { execute: null }],
	["a string", { execute: "function () {}" }],
])("a tool whose execute is %s is remote [API-021]", async (_, own) => {
	const tool: AnyTool = { ...locate, ...own };
	const session = createSession(
		"s",
		{ tools: [tool] },
		{ model: scriptedModel([{ toolCalls: [asks("a")] }]) },
	);
	const { events, result } = await played(execute(session, says("go")));
	expect(result).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ id: "a" }] });
	expect(faultsOf(events)).toEqual([]);
});

test("a local tool that was serialised to JSON is remote, and the model sees no difference [API-022]", async () => {
	const given = local("look", async () => ({ output: "seen" }), {
		type: "object",
		properties: { at: { type: "string" } },
	});
	const sent = JSON.parse(JSON.stringify(given)) as AnyTool;
	const { execute: _, ...rest } = given;
	expect(sent).toEqual(rest);
	const shown = [];
	for (const [tool, status] of [
		[given, "completed"],
		[sent, "awaiting_tool_execution"],
	] as const) {
		const model = scriptedModel([{ toolCalls: [{ name: "look", id: "a" }] }, "done"]);
		const session = createSession("s", { tools: [tool] }, { model });
		expect((await execute(session, says("go")).result()).status).toBe(status);
		const [declared] = model.requests[0]?.tools ?? [];
		shown.push({
			name: declared?.name,
			description: declared?.description,
			parameters: declared?.parameters,
		});
	}
	expect(shown[0]).toEqual({ name: "look", description: "Does look.", parameters: given.parameters });
	expect(shown[1]).toEqual(shown[0]);
});

describe("calls that cannot be carried out", () => {
	const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
	const ran: unknown[] = [];
	beforeEach(() => void ran.splice(0));
	afterEach(() => expect(ran).toEqual([]));
	const here = local(
		"here",
		async (_id: string, params: unknown) => ({ output: String(ran.push(params)) }),
		parameters,
	);
	const away: AnyTool = { name: "away", description: "Elsewhere.", parameters };

	async function refused(call: { readonly name: string; readonly arguments?: Record<string, unknown> }) {
		const model = scriptedModel([{ toolCalls: [{ ...call, id: "x" }] }, "done"]);
		const session = createSession("s", { tools: [here, away] }, { model });
		const { events, result } = await played(execute(session, says("go")));
		expect(faultsOf(events)).toEqual([]);
		expect(result.status).toBe("completed");
		expect(
			types(events).filter((type) => type.startsWith("tool_execution") || type.startsWith("awaiting")),
		).toEqual([]);
		const message = messagesIn(events)[2] as { output: string };
		expect(message).toMatchObject({ role: "tool", toolCallId: "x", toolName: call.name, isError: true });
		expect(shownLast(model)).toEqual([{ toolCallId: "x", result: message.output, isError: true }]);
		return message.output;
	}

	test.each(["here", "away"])("wrong arguments of %s are reported with the field [API-023]", async (name) => {
		expect(await refused({ name, arguments: { town: "Rome" } })).toContain("city");
		expect(await refused({ name, arguments: { city: 7 } })).toContain("city");
	});

	test.each(["here", "away"])("unreadable arguments of %s are reported unchanged [API-023]", async (name) => {
		const call = { toolCallId: "x", toolName: name, arguments: {}, invalidArguments: '{"city": Rome' };
		const response = {
			message: new AssistantMessage([], [call]),
			usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
			stopReason: "tool_calls",
		} as const;
		const events = [
			{ type: "tool_call_delta", index: 0, delta: { toolCallId: "x", argumentsJson: '{"city": Rome' } },
		] as const;
		const done = { ...response, message: new AssistantMessage("done"), stopReason: "stop" } as const;
		const model = streamingModel([
			{ events, response },
			{ events: [], response: done },
		]);
		const session = createSession("s", { tools: [here, away] }, { model });
		const { events: seen, result } = await played(execute(session, says("go")));
		expect(result.status).toBe("completed");
		expect(messagesIn(seen)[2]).toMatchObject({
			isError: true,
			output: expect.stringContaining('{"city": Rome'),
		});
		expect(only(seen, "tool_execution_start")).toEqual([]);
	});

	test("an unknown tool is reported with the names of the known ones [API-024]", async () => {
		expect(await refused({ name: "fly", arguments: {} })).toMatch(/"fly".*here, away/);
	});
});

test.each([
	[
		"circular",
		() => {
			const details: Record<string, unknown> = {};
			details.self = details;
			return details;
		},
	],
	["a BigInt", () => 1n],
	["with a BigInt inside", () => ({ big: [1n] })],
	["a function", () => () => {}],
])("details that are %s become a marker, and the output is kept [API-025]", async (_, make) => {
	const { events, session } = await calling([
		local("odd", async function* () {
			yield complete("fine", make());
		}),
		local("kept", async () => ({ output: "fine too", details: make() })),
	]);
	for (const event of only(events, "tool_execution_end"))
		expect(event).toMatchObject({
			output: expect.stringContaining("fine"),
			details: { unserialisable: expect.any(String) },
		});
	expect(session.messages[2]).toMatchObject({ details: { unserialisable: expect.any(String) } });
});

test("values that a tool emits through its context become its deltas", async () => {
	const { events } = await calling([
		local("emits", async (_id: string, _params: unknown, context: ToolContext) => {
			context.emit("one");
			context.emit("two");
			return "done";
		}),
	]);
	expect(only(events, "tool_execution_delta").map(({ delta }) => delta)).toEqual(["one", "two"]);
});

test("a tool of the context that depends on an unknown tool is rejected", () => {
	const after = (name: string, dependsOn: readonly string[]) => ({ ...local(name, () => name), dependsOn });
	const create = (tools: readonly AnyTool[]) =>
		createSession("s", { tools }, { model: scriptedModel(["Done."]) });
	expect(() => create([after("write", ["raed"])])).toThrow(
		expect.objectContaining({ code: "invalid_tool", data: { name: "write", missing: "raed" } }),
	);
	expect(() => create([after("read", []), after("write", ["read"])])).not.toThrow();
});

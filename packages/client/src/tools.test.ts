// Tools that run at the client, approvals, and calls that others settle.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "./client.ts";
import type { ExecuteRequest } from "./execute/start-execution.ts";
import type { Reply } from "./fixtures/agent.fixture.ts";
import { type FakeServer, startFakeServer } from "./fixtures/server.fixture.ts";
import { testTimers } from "./fixtures/timers.fixture.ts";
import type { ClientTool } from "./tools/client-tool.ts";
import type { PendingToolCall } from "./wire/messages.ts";

let server: FakeServer;
let replies: Reply[];

beforeEach(async () => {
	replies = [];
	server = await startFakeServer(() => replies.shift() ?? { text: "Done.", cost: 1 });
});
afterEach(() => server.close());

const client = () =>
	createClient({ url: server.url, timers: testTimers(), idleTimeoutMs: Number.POSITIVE_INFINITY });
const execute = (request: Partial<ExecuteRequest>) => client().execute({ input: "Go", ...request });

const call = (id: string, name: string, parameters = {}): PendingToolCall => ({
	id,
	name,
	arguments: parameters,
});
const answers = () => server.sessions.get("session-1")?.answers;

const add: ClientTool<{ a: number; b: number }> = {
	name: "add",
	label: "Sum",
	description: "Adds.",
	parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
	execute: async (_, { a, b }) => ({ output: String(a + b), details: { a } }),
};

test("tools are sent without functions, run when called, and answered until nothing waits [API-088]", async () => {
	replies = [
		{ text: "Adding.", calls: [call("c1", "add", { a: 1, b: 2 })], cost: 1 },
		{ calls: [call("c2", "add", { a: 3, b: 4 })], cost: 2 },
	];
	const stream = execute({ tools: [add], context: { systemPrompt: "Be brief." } });
	const statuses: string[] = [];
	for await (const event of stream) if (event.type === "execute_complete") statuses.push(event.status);
	expect(statuses).toEqual(["awaiting_tool_execution", "awaiting_tool_execution", "completed"]);
	const { name, label, description, parameters } = add;
	expect(server.requests[0]?.body.context).toEqual({
		systemPrompt: "Be brief.",
		tools: [{ name, label, description, parameters }],
	});
	expect(answers()).toEqual([
		{ role: "tool", toolCallId: "c1", output: "3", details: { a: 1 } },
		{ role: "tool", toolCallId: "c2", output: "7", details: { a: 3 } },
	]);
	const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
	expect(keys).toEqual([keys[0], `${keys[0]}:1`, `${keys[0]}:2`]);
	expect(await stream.result()).toMatchObject({ status: "completed", cost: 4 });
	expect((await stream.result()).messages.map(({ role }) => role)).toEqual([
		"user",
		"assistant",
		"tool",
		"assistant",
		"tool",
		"assistant",
	]);
});

test("the calls of a message run at the same time, and their results are posted together [API-088]", async () => {
	replies = [{ calls: [call("c1", "meet"), call("c2", "meet")] }];
	let waiting = 0;
	const { promise: both, resolve: meet } = Promise.withResolvers<void>();
	const tool: ClientTool = {
		name: "meet",
		run: async () => {
			waiting += 1;
			if (waiting === 2) meet();
			await both;
			return "met";
		},
	};
	expect(await execute({ tools: [tool] }).result()).toMatchObject({ status: "completed" });
	expect(answers()?.map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c2"]);
	expect(server.requests).toHaveLength(2);
});

test("a tool that throws and an unknown tool are answered with errors, the others as usual [API-089]", async () => {
	replies = [{ calls: [call("c1", "add", { a: 1, b: 2 }), call("c2", "fail"), call("c3", "strange")] }];
	const fail: ClientTool = {
		name: "fail",
		execute: () => {
			throw new Error("No luck today");
		},
	};
	expect(await execute({ tools: [add, fail] }).result()).toMatchObject({ status: "completed" });
	expect(answers()).toEqual([
		{ role: "tool", toolCallId: "c1", output: "3", details: { a: 1 } },
		{ role: "tool", toolCallId: "c2", output: "No luck today", isError: true },
		{
			role: "tool",
			toolCallId: "c3",
			output: 'The tool "strange" does not exist. Available: "add", "fail".',
			isError: true,
		},
	]);
});

const forms: readonly (readonly [string, Partial<ClientTool>, object])[] = [
	["a value", { execute: () => ({ output: "text" }) }, { output: "text" }],
	["an object for run", { run: () => ({ output: 1, more: 2 }) }, { output: '{"output":1,"more":2}' }],
	["nothing", { run: async () => {} }, { output: "" }],
	[
		"events up to complete",
		{
			async *execute() {
				yield { type: "delta", delta: "wor" };
				yield { type: "complete", output: "whole", details: [1] };
				throw new Error("never reached");
			},
		},
		{ output: "whole", details: [1] },
	],
	[
		"deltas alone",
		{
			async *execute() {
				yield { type: "delta", delta: "one " };
				yield { type: "delta", delta: "two" };
			},
		},
		{ output: "one two" },
	],
	[
		"pieces of text",
		{
			async *run() {
				yield "one ";
				yield "two";
			},
		},
		{ output: "one two" },
	],
	[
		"a failure halfway",
		{
			async *execute() {
				yield { type: "delta", delta: "one" };
				throw new Error("broke");
			},
		},
		{ output: "broke", isError: true },
	],
	["a rejection without words", { run: () => Promise.reject() }, { isError: true }],
	[
		"details that are no JSON",
		{ execute: () => ({ output: "kept", details: { big: 1n } }) },
		{ output: "kept", details: { unserialisable: expect.any(String) } },
	],
	["a result that is no JSON", { run: () => ({ big: 1n }) }, { isError: true }],
];
test.each(forms)("a tool can return %s", async (_, tool, answer) => {
	replies = [{ calls: [call("c1", "form")] }];
	await execute({ tools: [{ name: "form", ...tool }] }).result();
	expect(answers()).toEqual([expect.objectContaining({ role: "tool", toolCallId: "c1", ...answer })]);
});

test("a tool gets its call and a stable key", async () => {
	replies = [{ calls: [call("c1", "look", { at: "it" })] }];
	const seen: unknown[] = [];
	const { signal } = new AbortController();
	const look: ClientTool = { name: "look", run: (...parameters) => void seen.push(parameters) };
	await execute({ tools: [look], signal }).result();
	expect(seen).toEqual([
		[{ at: "it" }, { toolCallId: "c1", toolName: "look", signal, idempotencyKey: "session-1/c1" }],
	]);
});

test("a schema that can be converted to JSON Schema is sent; one that cannot is rejected", async () => {
	await execute({ tools: [{ name: "t", parameters: z.object({ city: z.string() }) }] }).result();
	expect(server.requests[0]?.body.context.tools[0].parameters).toMatchObject({
		properties: { city: { type: "string" } },
	});
	const parameters = { "~standard": { version: 1 } };
	expect(() => execute({ tools: [{ name: "t", parameters }] })).toThrow('The schema of the tool "t"');
});

test("tools without a name and duplicate names are rejected before anything is sent", () => {
	expect(() => execute({ tools: [{} as ClientTool] })).toThrow("no name");
	expect(() => execute({ tools: [add, add] })).toThrow('Two tools are called "add"');
	expect(server.requests).toEqual([]);
});

test("without tools nothing is answered, and the result lists the waiting calls", async () => {
	replies = [{ calls: [call("c1", "add")] }];
	expect(await execute({}).result()).toMatchObject({
		status: "awaiting_tool_execution",
		pendingToolCalls: [call("c1", "add")],
	});
	expect(server.requests).toHaveLength(1);
});

test("calls for other clients are left to them, and the result names them", async () => {
	replies = [{ calls: [call("c1", "add", { a: 1, b: 2 }), call("c2", "camera")] }];
	const camera: ClientTool = { name: "camera", description: "Takes a picture." };
	const result = await execute({ tools: [add, camera] }).result();
	expect(result).toMatchObject({
		status: "awaiting_tool_execution",
		pendingToolCalls: [call("c2", "camera")],
	});
	expect(answers()?.map(({ toolCallId }) => toolCallId)).toEqual(["c1"]);
	const phone = { name: "camera", run: () => "picture" };
	await client().answer("session-1", [{ role: "tool", toolCallId: "c2", output: phone.run() }]);
	await expect.poll(() => server.sessions.get("session-1")?.status).toBe("completed");
});

test("tools that are not declared at all can also be left to other clients", async () => {
	replies = [{ calls: [call("c1", "camera")] }];
	const result = await execute({ tools: [add], unknownTools: "leave" }).result();
	expect(result.pendingToolCalls).toEqual([call("c1", "camera")]);
});

test("a lost response to the results is repeated with the same key and runs no tool again", async () => {
	replies = [{ calls: [call("c1", "count")] }];
	let runs = 0;
	server.faults.push("none", "lose-answer", { status: 503 });
	await execute({ tools: [{ name: "count", run: () => ++runs }] }).result();
	expect(runs).toBe(1);
	expect(answers()).toHaveLength(1);
	const keys = server.requests.slice(1).map(({ headers }) => headers["idempotency-key"]);
	expect(new Set(keys).size).toBe(1);
});

describe("approvals", () => {
	const delicate = (id: string): PendingToolCall => ({ ...call(id, "pay"), approval: true });

	test.each([
		[true, { approved: true }],
		[false, { approved: false }],
		[
			{ approved: false, reason: "Too much." },
			{ approved: false, reason: "Too much." },
		],
	])("the decision %j is sent", async (decision, answer) => {
		replies = [{ calls: [delicate("c1"), delicate("c2")] }];
		const asked: string[] = [];
		const result = await execute({
			approve: ({ id }) => {
				asked.push(id);
				return decision;
			},
		}).result();
		expect(result.status).toBe("completed");
		expect(asked).toEqual(["c1", "c2"]);
		expect(answers()).toEqual(
			["c1", "c2"].map((toolCallId) => ({ role: "approval", toolCallId, ...answer })),
		);
		expect(server.requests).toHaveLength(2);
	});

	test("without an approve function, and undecided, the call stays open", async () => {
		for (const approve of [undefined, () => undefined]) {
			replies = [{ calls: [delicate("c1")] }];
			const result = await execute({ tools: [add], ...(approve === undefined ? {} : { approve }) }).result();
			expect(result).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [delicate("c1")] });
		}
	});

	test("an approve function that fails does not approve", async () => {
		replies = [{ calls: [delicate("c1")] }];
		await execute({ approve: () => Promise.reject(new Error("window closed")) }).result();
		expect(answers()).toMatchObject([
			{ approved: false, reason: "The approval could not be requested: window closed" },
		]);
	});

	test("results do not wait for decisions, nor one decision for another; each is requested once", async () => {
		replies = [{ calls: [call("c1", "add", { a: 1, b: 2 }), delicate("c2"), delicate("c3")] }];
		const open = new Map<string, (approved: boolean) => void>();
		const asked: string[] = [];
		const stream = execute({
			tools: [add],
			approve: ({ id }) => {
				asked.push(id);
				return new Promise<boolean>((resolve) => void open.set(id, resolve));
			},
		});
		const result = stream.result();
		await expect.poll(() => answers()?.length).toBe(1);
		expect([...open.keys()]).toEqual(["c2", "c3"]);
		open.get("c3")?.(true);
		await expect.poll(() => answers()?.length).toBe(2);
		open.get("c2")?.(false);
		expect((await result).status).toBe("completed");
		expect(answers()?.map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c3", "c2"]);
		expect(asked).toEqual(["c2", "c3"]);
	});

	test("a decision can be sent from anywhere", async () => {
		replies = [{ calls: [delicate("c1"), delicate("c2")] }];
		const { sessionId } = await execute({}).result();
		server.faults.push("lose-answer");
		await client().approve(sessionId, "c1");
		await client().deny(sessionId, "c2", "Not today.");
		expect(answers()).toEqual([
			{ role: "approval", toolCallId: "c1", approved: true },
			{ role: "approval", toolCallId: "c2", approved: false, reason: "Not today." },
		]);
		await expect(client().approve(sessionId, "c2")).rejects.toMatchObject({ code: "no_pending_tool_calls" });
	});
});

describe("if other clients are faster", () => {
	const settle = (...ids: string[]) =>
		server.answerAsOther(
			"session-1",
			ids.map((toolCallId) => ({ role: "tool", toolCallId, output: "by another" })),
		);

	test("and have answered all calls, the stream shows what the session did", async () => {
		replies = [{ calls: [call("c1", "slow")] }, { text: "Thanks to the other." }];
		const stream = execute({ tools: [{ name: "slow", run: () => settle("c1") }] });
		const events: unknown[] = [];
		for await (const event of stream) events.push(event);
		expect(events).toEqual(server.sessions.get("session-1")?.log.map(({ event }) => event));
		expect(await stream.result()).toMatchObject({ status: "completed" });
	});

	test("and have answered some, the remaining answers are sent", async () => {
		replies = [{ calls: [call("c1", "slow"), call("c2", "slow")] }];
		let runs = 0;
		const slow = () => {
			runs += 1;
			if (runs === 1) settle("c1");
			return "mine";
		};
		expect(await execute({ tools: [{ name: "slow", run: slow }] }).result()).toMatchObject({
			status: "completed",
		});
		expect(answers()).toMatchObject([
			{ toolCallId: "c1", output: "by another" },
			{ toolCallId: "c2", output: "mine" },
		]);
		expect(runs).toBe(2);
	});

	test("and the session is busy with their answers, this client's follow when it waits again", async () => {
		replies = [{ calls: [call("c1", "mine")] }];
		server.faults.push("none", { status: 409, body: { code: "session_busy", error: "Busy." } });
		expect(await execute({ tools: [{ name: "mine", run: () => "mine" }] }).result()).toMatchObject({
			status: "completed",
		});
		expect(answers()).toHaveLength(1);
	});

	test("and continue with other calls of this client, these are also answered", async () => {
		replies = [{ calls: [call("c1", "work")] }, { calls: [call("c2", "work")] }];
		const work = (_: unknown, { toolCallId }: { toolCallId: string }) => {
			if (toolCallId === "c1") settle("c1");
			return "mine";
		};
		expect(await execute({ tools: [{ name: "work", run: work }] }).result()).toMatchObject({
			status: "completed",
		});
		expect(answers()).toMatchObject([
			{ toolCallId: "c1", output: "by another" },
			{ toolCallId: "c2", output: "mine" },
		]);
	});

	test("a session stopped under a running tool ends the stream as aborted", async () => {
		replies = [{ calls: [call("c1", "slow")] }];
		const slow = async () => void (await client().stop("session-1"));
		expect(await execute({ tools: [{ name: "slow", run: slow }] }).result()).toMatchObject({
			status: "aborted",
		});
	});

	test("and nothing more is emitted about it, the session's status is read", async () => {
		replies = [{ calls: [call("c1", "slow")] }];
		const slow = () => {
			const session = server.sessions.get("session-1");
			if (session !== undefined) Object.assign(session, { status: "aborted", pending: [] });
		};
		expect(await execute({ tools: [{ name: "slow", run: slow }] }).result()).toMatchObject({
			status: "aborted",
		});
	});

	test("results that the server rejects for another reason are an error", async () => {
		replies = [{ calls: [call("c1", "mine")] }];
		server.faults.push("none", { status: 409, body: { code: "tool_result_conflict", error: "Differs." } });
		const result = execute({ tools: [{ name: "mine", run: () => "mine" }] }).result();
		await expect(result).rejects.toMatchObject({ code: "tool_result_conflict", status: 409 });
	});
});

test("the same key after a restart of the program shows the whole run and repeats no tool", async () => {
	replies = [{ calls: [call("c1", "count")] }, { calls: [call("c2", "count")] }];
	let runs = 0;
	const request = { tools: [{ name: "count", run: () => ++runs }], idempotencyKey: "order-7" };
	const first = await execute(request).result();
	const second = await execute(request).result();
	expect(runs).toBe(2);
	expect(second).toEqual(first);
	expect(answers()).toHaveLength(2);
});

test("aborting ends the wait for a tool and notifies the tool", async () => {
	replies = [{ calls: [call("c1", "wait")] }];
	const controller = new AbortController();
	let reason: unknown;
	const wait: ClientTool = {
		name: "wait",
		run: (_, { signal }) => {
			signal.addEventListener("abort", () => {
				reason = signal.reason;
			});
			controller.abort("enough");
			return new Promise(() => {});
		},
	};
	const stream = execute({ tools: [wait], signal: controller.signal });
	await expect(stream.result()).rejects.toBe("enough");
	expect(reason).toBe("enough");
	expect(server.sessions.get("session-1")?.status).toBe("awaiting_tool_execution");
});

test("leaving the loop leaves the tools, unless the result is awaited", async () => {
	replies = [{ calls: [call("c1", "count")] }];
	let runs = 0;
	const stream = execute({ tools: [{ name: "count", run: () => ++runs }] });
	for await (const { type } of stream) if (type === "execute_complete") break;
	await expect.poll(() => server.openStreams()).toBe(0);
	expect(runs).toBe(0);
	expect((await stream.result()).status).toBe("completed");
	expect(runs).toBe(1);
});

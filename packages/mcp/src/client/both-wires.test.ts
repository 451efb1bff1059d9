// The client against a server that speaks both wires, over HTTP on loopback.
import { scriptedModel } from "@holdfast/testing";
import { Agent, agent } from "holdfast";
import { describe, expect, test } from "vitest";
import { startServer } from "../http-server.fixture.ts";
import { connectMcp, type McpChange } from "./index.ts";

const greet = {
	description: "Greets somebody.",
	parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
	run: ({ name }: Record<string, unknown>) => `Hello, ${name}!`,
};

describe.each([
	["2025", "2025-11-25"],
	["2026", "2026-07-28"],
	["auto", "2026-07-28"],
] as const)("with protocol %s", (protocol, revision) => {
	test("an agent calls the server's tools, and its model reads their results", async () => {
		await using server = await startServer({ greet });
		await using mcp = await connectMcp({ greeter: { url: server.url, protocol } });
		expect(mcp.servers()).toEqual([
			{ name: "greeter", status: "connected", protocolVersion: revision, tools: ["greet"] },
		]);
		const model = scriptedModel([{ toolCalls: [{ name: "greet", arguments: { name: "Ada" } }] }, "Done."]);
		const { turn, state } = await agent({ model, tools: mcp.tools() }).generate("Greet Ada.");
		expect(turn.response.text).toBe("Done.");
		expect(state.messages.find(({ type }) => type === "tool_result")?.text).toBe("Hello, Ada!");
	});

	test("arguments are checked before the server is called, and its failure is an error of the call", async () => {
		let asked = 0;
		const fail = {
			...greet,
			run: () => {
				asked++;
				return { isError: true, content: [{ type: "text", text: "Nobody is there." }] };
			},
		};
		await using server = await startServer({ fail });
		await using mcp = await connectMcp({ greeter: { url: server.url, protocol } });
		const model = scriptedModel([
			{ toolCalls: [{ name: "fail", arguments: { name: 7 } }] },
			{ toolCalls: [{ name: "fail", arguments: { name: "Ada" } }] },
			"I give up.",
		]);
		const { turn } = await agent({ model, tools: mcp.tools() }).generate("Greet Ada.");
		expect(turn.toolExecutions.map(({ isError, result }) => [isError, String(result)])).toEqual([
			[true, expect.stringContaining("name")],
			[true, "Nobody is there."],
		]);
		expect(asked).toBe(1);
	});

	test("a cancelled call is cancelled at the server", async () => {
		let started: (() => void) | undefined;
		const running = new Promise<void>((resolve) => {
			started = resolve;
		});
		let cancelled: (() => void) | undefined;
		const isCancelled = new Promise<void>((resolve) => {
			cancelled = resolve;
		});
		const wait = {
			description: "Waits.",
			run: (_: unknown, { mcpReq }: { mcpReq: { signal: AbortSignal } }) => {
				started?.();
				return new Promise<string>(() => mcpReq.signal.addEventListener("abort", () => cancelled?.()));
			},
		};
		await using server = await startServer({ wait });
		await using mcp = await connectMcp({ slow: { url: server.url, protocol } });
		const model = scriptedModel([{ toolCalls: [{ name: "wait" }] }, "Never said."]);
		const stop = new AbortController();
		const ended = agent({ model, tools: mcp.tools() })
			.generate("Wait.", undefined, { signal: stop.signal })
			.catch((error) => error);
		await running;
		stop.abort();
		await ended;
		// On the older wire a server without sessions has nobody to send the cancellation to: its stream ends.
		if (protocol !== "2025") await isCancelled;
	});

	test("every attempt at a call has the same key, by which a server can recognise it", async () => {
		const keys: unknown[] = [];
		const note = {
			description: "Notes.",
			run: (_: unknown, { mcpReq }: { mcpReq: { _meta?: Record<string, unknown> } }) => {
				keys.push(mcpReq._meta?.["dev.holdfast/idempotencyKey"]);
				return "noted";
			},
		};
		await using server = await startServer({ note });
		await using mcp = await connectMcp({ notes: { url: server.url, protocol } });
		const [tool] = mcp.tools();
		const context = { signal: new AbortController().signal, idempotencyKey: "run.1.0", emit() {} };
		await tool?.run({}, context as never);
		await tool?.run({}, context as never);
		expect(keys).toEqual(["run.1.0", "run.1.0"]);
	});

	test("a server's progress is a delta of the tool", async () => {
		const dig = {
			description: "Digs.",
			run: async (
				_: unknown,
				{ mcpReq }: { mcpReq: { _meta?: { progressToken?: string }; notify: (n: unknown) => Promise<void> } },
			) => {
				const progressToken = mcpReq._meta?.progressToken;
				await mcpReq.notify({
					method: "notifications/progress",
					params: { progressToken, progress: 1, total: 2, message: "half way" },
				});
				return "dug";
			},
		};
		await using server = await startServer({ dig: dig as never });
		await using mcp = await connectMcp({ digger: { url: server.url, protocol } });
		const model = scriptedModel([{ toolCalls: [{ name: "dig" }] }, "Done."]);
		const digger = new Agent({ model, tools: mcp.tools() });
		const deltas: string[] = [];
		for await (const event of (await digger.session("s").send("Dig.")).watch())
			if (event.type === "tool_delta") deltas.push(event.delta);
		await digger.close();
		expect(deltas).toEqual(["1/2 half way\n"]);
	});

	test("a restarted server is reconnected by the next call", async () => {
		await using server = await startServer({ greet });
		const changes: McpChange["type"][] = [];
		await using mcp = await connectMcp(
			{ greeter: { url: server.url, protocol, retryPolicy: "pure" } },
			{ onChange: ({ type }) => changes.push(type) },
		);
		const [tool] = mcp.tools();
		const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;
		await server.stop();
		await expect(tool?.run({ name: "Ada" }, context)).rejects.toMatchObject({ code: "mcp_connect_failed" });
		expect(mcp.servers()[0]?.status).toBe("disconnected");
		await server.start();
		await expect(tool?.run({ name: "Ada" }, context)).resolves.toBe("Hello, Ada!");
		expect(mcp.servers()[0]?.status).toBe("connected");
		expect(changes).toEqual(["tools-changed", "connected", "disconnected", "connected"]);
	});
});

test("a tool that a server adds is available after its notification", async () => {
	await using server = await startServer({ greet });
	await using mcp = await connectMcp({ greeter: { url: server.url } });
	server.tools.set("wave", { description: "Waves.", run: () => "waved" });
	server.changed();
	await expect.poll(() => mcp.tools().map(({ name }) => name)).toEqual(["greet", "wave"]);
	server.tools.delete("greet");
	server.changed();
	await expect.poll(() => mcp.tools().map(({ name }) => name)).toEqual(["wave"]);
});

test("a connection that breaks during a call leaves its outcome unknown, unless the tool can be called again", async () => {
	let calls = 0;
	const server = await startServer({
		charge: {
			description: "Charges.",
			async run() {
				calls++;
				if (calls !== 2) await server.stop();
				return "charged";
			},
		},
	});
	await using _ = server;
	await using mcp = await connectMcp({ bank: { url: server.url } });
	const [tool] = mcp.tools();
	const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;
	await expect(tool?.run({}, context)).rejects.toMatchObject({ code: "mcp_connection_lost" });
	expect(calls).toBe(1);
	await server.start();
	await using again = await connectMcp({ bank: { url: server.url, retryPolicy: "idempotent" } });
	await expect(again.tools()[0]?.run({}, context)).resolves.toBe("charged");
	expect(calls).toBe(2);
});

test.each([
	["9lives", { command: "x" }],
	["both", { command: "x", url: "http://127.0.0.1" }],
	["none", {}],
	["ftp", { url: "ftp://127.0.0.1" }],
	["limit", { command: "x", timeoutMs: 0 }],
])("an invalid server is rejected by its name: %s", async (name, server) => {
	await expect(connectMcp({ [name]: server as never })).rejects.toMatchObject({
		code: "invalid_mcp_server",
		data: { server: name },
	});
});

test("an unreachable server fails everything, unless it is optional", async () => {
	await using server = await startServer({ greet });
	await using other = await startServer({ greet });
	await other.stop();
	await expect(connectMcp({ a: { url: server.url }, b: { url: other.url } })).rejects.toMatchObject({
		code: "mcp_connect_failed",
		data: { server: "b" },
	});
	await using mcp = await connectMcp({ a: { url: server.url }, b: { url: other.url, optional: true } });
	expect(mcp.servers().map(({ status }) => status)).toEqual(["connected", "disconnected"]);
	await other.start();
	await mcp.refresh();
	expect(mcp.servers().map(({ status }) => status)).toEqual(["connected", "connected"]);
	await mcp.close();
	await expect(mcp.refresh()).rejects.toMatchObject({ code: "mcp_closed" });
	await expect(mcp.approve("c", "greet")).rejects.toMatchObject({ code: "unknown_mcp_server" });
});

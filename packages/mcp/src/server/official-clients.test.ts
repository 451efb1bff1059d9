// Agents as tools for clients that others made: the official package of the older wire, with its tasks, and programs over stdio.
import { join } from "node:path";
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { memoryHost, tool } from "holdfast";
import { expect, test } from "vitest";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { connectMcp } from "../index.ts";
import { mcpServer, toolOfSession } from "../server.ts";

test("the client of the older package calls a tool, and waits for one as a task", async () => {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model: scriptedModel(["Once.", "Twice."]) } });
	const mcp = mcpServer({ service, tools: { research: { description: "Researches." } }, pollEveryMs: 5 });
	const listening = await listen((request) => mcp.fetch(request));
	const client = new Client({ name: "older", version: "1" });
	try {
		const transport = new StreamableHTTPClientTransport(new URL(`${listening.url}/mcp`));
		await client.connect(transport as unknown as Transport);
		const { tools } = await client.listTools();
		expect(tools).toMatchObject([{ name: "research", execution: { taskSupport: "optional" } }]);
		const call = { name: "research", arguments: { prompt: "?" } };
		expect(await client.callTool(call)).toMatchObject({ content: [{ type: "text", text: "Once." }] });

		const stream = client.experimental.tasks.callToolStream(call, undefined, { task: { ttl: 60_000 } });
		const seen: string[] = [];
		let result: unknown;
		for await (const message of stream) {
			seen.push(message.type);
			if (message.type === "result") ({ result } = message);
		}
		expect(seen[0]).toBe("taskCreated");
		expect(result).toMatchObject({ content: [{ type: "text", text: "Twice." }] });
	} finally {
		await client.close();
		await listening.close();
		await mcp.close();
		await service.close();
		await host.close();
	}
});

test.each(["2025", "2026"] as const)(
	"a program asks the user over stdio, with protocol %s",
	async (protocol) => {
		const program = join(import.meta.dirname, "mcp-process.fixture.ts");
		const args = ["--conditions=holdfast-source", "--no-warnings", program];
		const server = { command: process.execPath, args, protocol };
		await using mcp = await connectMcp({ agent: server }, { allow: { elicitation: true } });
		const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;
		const calling = mcp.tools()[0]?.run({ prompt: "Act." }, context);
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		const [request] = mcp.requests();
		expect(request).toMatchObject({ message: expect.stringContaining("act(") });
		mcp.answer(request?.id as string, { action: "accept", content: { approved: true } });
		expect(await calling).toBe("It is done.");
	},
);

test("several agents are several tools of one service", async () => {
	const host = memoryHost();
	const agents = {
		poet: { model: scriptedModel(["A rose."]) },
		cook: { model: scriptedModel(["A stew."]) },
	};
	const service = sessionService({
		host,
		agent: { system: "You help." },
		agentFor: ({ sessionId }) => agents[toolOfSession(sessionId) as keyof typeof agents],
	});
	const tools = { poet: { description: "Writes.", title: "The poet" }, cook: { description: "Cooks." } };
	const mcp = mcpServer({ service, tools });
	const fetch = (url: string | URL, init?: RequestInit) => mcp.fetch(new Request(url, init));
	try {
		await using client = await connectMcp({ agents: { url: "http://localhost/mcp", fetch } });
		const context = (idempotencyKey: string) =>
			({ signal: new AbortController().signal, idempotencyKey, emit() {} }) as never;
		const [poet, cook] = client.tools();
		expect(poet).toMatchObject({ name: "poet", label: "The poet" });
		expect(await poet?.run({ prompt: "?" }, context("1"))).toBe("A rose.");
		expect(await cook?.run({ prompt: "?" }, context("2"))).toBe("A stew.");
	} finally {
		await mcp.close();
		await service.close();
		await host.close();
	}
});

test("a client of the 2025 protocol opens another session after the server restarted, and can be asked on it", async () => {
	const host = memoryHost();
	const acting = { name: "act", description: "Acts.", needsApproval: true, run: () => "acted" };
	const script = [{ toolCalls: [{ name: "act" }] }, "Done."];
	const open = () => {
		const agent = { model: scriptedModel(script), tools: [tool(acting)] };
		const service = sessionService({ host, agent });
		return { service, mcp: mcpServer({ service, tools: { clerk: { description: "Helps." } } }) };
	};
	let served = open();
	const restart = async (): Promise<void> => {
		await served.mcp.close();
		await served.service.close();
		served = open();
	};
	const listening = await listen((request) => served.mcp.fetch(request));
	const url = new URL(`${listening.url}/mcp`);
	const connect = async () => {
		const client = new Client({ name: "older", version: "1" }, { capabilities: { elicitation: {} } });
		client.setRequestHandler(ElicitRequestSchema, async () => ({
			action: "accept",
			content: { approved: true },
		}));
		const transport = new StreamableHTTPClientTransport(url);
		await client.connect(transport as unknown as Transport);
		return { client, id: transport.sessionId };
	};
	const call = { name: "clerk", arguments: { prompt: "?" } };
	const first = await connect();
	await restart();
	// The protocol has a client send `initialize` upon 404; the official client leaves that to its user.
	await expect(first.client.callTool(call)).rejects.toMatchObject({ code: 404 });
	await first.client.close();
	const second = await connect();
	expect(second.id).not.toBe(first.id);
	expect(await second.client.callTool(call)).toMatchObject({ content: [{ text: "Done." }] });
	// Another caller's session is as unknown as none.
	const headers = { "content-type": "application/json", "mcp-session-id": second.id ?? "" };
	const ping = { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
	const caller = { tenant: "other" };
	expect((await served.mcp.fetch(new Request(url, ping), { caller })).status).toBe(404);
	await second.client.close();
	await listening.close();
	await served.mcp.close();
	await served.service.close();
	await host.close();
});

// Agents as tools of an MCP server: over HTTP on loopback, on both wires, with the client of this package and the official ones.

import { type SessionService, type SessionServiceOptions, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { agent, memoryHost, tool } from "holdfast";
import { afterEach, describe, expect, test } from "vitest";
import { askingProvider } from "../../../../test/shared/asking-provider.fixture.ts";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { connectMcp } from "../index.ts";
import { type McpAgentServer, type McpServerOptions, mcpServer, toolOfSession } from "../server.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

interface Served {
	readonly url: string;
	readonly service: SessionService;
	readonly mcp: McpAgentServer;
}

async function serve(
	agentOptions: SessionServiceOptions["agent"],
	options: Partial<McpServerOptions> = {},
	others: Partial<SessionServiceOptions> = {},
): Promise<Served> {
	const host = memoryHost();
	const service = sessionService({ host, agent: agentOptions, ...others });
	const tools = { research: { description: "Researches facts." } };
	const mcp = mcpServer({ service, tools, ...options });
	const listening = await listen((request) => mcp.fetch(request));
	ends.push(
		() => host.close(),
		() => service.close(),
		() => mcp.close(),
		() => listening.close(),
	);
	return { url: `${listening.url}/mcp`, service, mcp };
}

const context = (key: string, over: object = {}) =>
	({ signal: new AbortController().signal, idempotencyKey: key, emit() {}, ...over }) as never;

describe.each(["2025", "2026"] as const)("with protocol %s", (protocol) => {
	test("an agent is a tool of another one, and its own session can be continued", async () => {
		const model = scriptedModel(["Bern has 147,000 inhabitants.", "It lies on the Aare."]);
		const { url } = await serve({ model });
		await using mcp = await connectMcp({ bern: { url, protocol } });
		expect(mcp.tools()).toMatchObject([
			{ name: "research", description: "Researches facts.", parameters: { required: ["prompt"] } },
		]);
		const caller = scriptedModel([
			{ toolCalls: [{ name: "research", arguments: { prompt: "How large is Bern?" } }] },
			"147,000.",
		]);
		const { turn } = await agent({ model: caller, tools: mcp.tools() }).generate("How large is Bern?");
		expect(turn.toolExecutions[0]?.result).toBe("Bern has 147,000 inhabitants.");

		const client = new Client({ name: "test", version: "1" }, negotiated(protocol));
		await client.connect(new StreamableHTTPClientTransport(new URL(url)));
		const { _meta } = await client.callTool({ name: "research", arguments: { prompt: "And where?" } });
		const session = _meta?.["dev.holdfast/session"] as string;
		expect(toolOfSession(session)).toBe("research");
		await client.close();
	});

	test("the same call under one key is one run, however often it arrives", async () => {
		const model = scriptedModel(["Once."]);
		const { url } = await serve({ model });
		await using mcp = await connectMcp({ a: { url, protocol } });
		const [research] = mcp.tools();
		expect(await research?.run({ prompt: "?" }, context("k"))).toBe("Once.");
		expect(await research?.run({ prompt: "?" }, context("k"))).toBe("Once.");
		expect(model.requests).toHaveLength(1);
		await expect(research?.run({ prompt: "Another" }, context("k"))).rejects.toThrow(/key/);
	});

	test("a checked output is structured content", async () => {
		const output = { type: "object", properties: { people: { type: "integer" } }, required: ["people"] };
		const { url } = await serve({ model: scriptedModel(['{"people":147000}']), output } as never);
		await using mcp = await connectMcp({ a: { url, protocol } });
		expect(await mcp.tools()[0]?.run({ prompt: "?" }, context("k"))).toEqual({ people: 147000 });
	});

	test("the agent's text and its tool calls are emitted while it works", async () => {
		const look = tool({ name: "look", description: "Looks.", run: () => "seen" });
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "I have seen it."]);
		const { url } = await serve({ model, tools: [look] });
		await using mcp = await connectMcp({ a: { url, protocol } });
		const received: string[] = [];
		await mcp.tools()[0]?.run({ prompt: "?" }, context("k", { emit: (text: string) => received.push(text) }));
		expect(received[0]).toBe("1 [look]\n");
		expect(received.join("")).toContain("seen");
	});

	test("a failed run, an unknown session and invalid arguments are errors", async () => {
		const { url } = await serve({ model: scriptedModel([{ error: new Error("secret") }]) });
		await using mcp = await connectMcp({ a: { url, protocol } });
		const [research] = mcp.tools();
		const failed = research?.run({ prompt: "?" }, context("k"));
		await expect(failed).rejects.toMatchObject({ code: "mcp_tool_failed" });
		await expect(failed).rejects.not.toThrow(/secret/);
		const session = "mcp.research.unknown";
		await expect(research?.run({ prompt: "?", session }, context("1"))).rejects.toThrow(/no session/);
		await expect(research?.run({ prompt: "?", session: "other" }, context("2"))).rejects.toThrow(/session/);
		await expect(research?.run({ prompt: "" }, context("3"))).rejects.toThrow(/prompt/);
	});

	test("cancelling the call stops the run", async () => {
		let runs = 0;
		let stopped: (() => void) | undefined;
		const isStopped = new Promise<void>((resolve) => {
			stopped = resolve;
		});
		const wait = tool({
			name: "wait",
			description: "Waits.",
			run: (_, { signal }) => {
				runs++;
				return new Promise<string>(() => signal.addEventListener("abort", () => stopped?.()));
			},
		});
		const model = scriptedModel([{ toolCalls: [{ name: "wait" }] }]);
		const { url } = await serve({ model, tools: [wait] });
		const client = new Client({ name: "test", version: "1" }, negotiated(protocol));
		await client.connect(new StreamableHTTPClientTransport(new URL(url)));
		const cancel = new AbortController();
		const calling = client
			.callTool({ name: "research", arguments: { prompt: "?" } }, { signal: cancel.signal })
			.catch(() => {});
		await expect.poll(() => runs).toBe(1);
		cancel.abort();
		// On the older wire without sessions only the end of the connection says so.
		if (protocol === "2025") await client.close();
		await Promise.all([calling, isStopped]);
		await client.close();
	});
});

test.each(["2025", "2026"] as const)(
	"a call that requires approval asks the user over HTTP with protocol %s, and continues with the answer",
	async (protocol) => {
		const ran: unknown[] = [];
		const remove = tool<{ path: string }>({
			name: "remove",
			description: "Removes.",
			parameters: { type: "object", properties: { path: { type: "string" } } },
			needsApproval: true,
			run: ({ path }) => {
				ran.push(path);
				return "removed";
			},
		});
		const call = (path: string) => ({ toolCalls: [{ name: "remove", arguments: { path } }] });
		const model = scriptedModel([call("/a"), "It is gone.", call("/b"), "It is still there."]);
		const { url } = await serve({ model, tools: [remove] });
		await using mcp = await connectMcp({ a: { url, protocol } }, { allow: { elicitation: true } });
		const [research] = mcp.tools();
		for (const [approved, said] of [
			[true, "It is gone."],
			[false, "It is still there."],
		] as const) {
			const calling = research?.run({ prompt: "Remove it." }, context(said));
			await expect.poll(() => mcp.requests()).toHaveLength(1);
			const [request] = mcp.requests();
			expect(request).toMatchObject({ kind: "elicitation", message: expect.stringContaining("remove(") });
			mcp.answer(request?.id as string, { action: "accept", content: { approved } });
			expect(await calling).toBe(said);
		}
		expect(ran).toEqual(["/a"]);
	},
);

test.each([true, false])(
	"a tool of the agent's provider asks the client's user, who answers %s",
	async (approved) => {
		const { model, prompts } = askingProvider();
		const { url } = await serve({ model });
		await using mcp = await connectMcp({ a: { url } }, { allow: { elicitation: true } });
		const calling = mcp.tools()[0]?.run({ prompt: "Erase a." }, context("k"));
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		const [request] = mcp.requests();
		expect(request).toMatchObject({ kind: "elicitation", message: expect.stringContaining("mcp.erase(") });
		mcp.answer(request?.id as string, { action: "accept", content: { approved } });
		expect(await calling).toBe("Done.");
		expect(prompts[1]?.at(-1)).toMatchObject({
			content: [{ type: "tool-approval-response", approvalId: "q1", approved }],
		});
	},
);

describe("a client of 2025 that can ask its user", () => {
	const remove = tool({ name: "remove", description: "Removes.", needsApproval: true, run: () => "removed" });
	const asks = { toolCalls: [{ name: "remove" }] };
	const initialize = (capabilities: object, headers: Record<string, string> = {}) => ({
		method: "POST",
		headers: {
			"content-type": "application/json",
			accept: "application/json, text/event-stream",
			...headers,
		},
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: 1,
			method: "initialize",
			params: { protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "c", version: "1" } },
		}),
	});
	const sessionOf = async (url: string, ...given: Parameters<typeof initialize>) => {
		const response = await fetch(url, initialize(...given));
		await response.text();
		return response.headers.get("mcp-session-id");
	};

	test("has a session, and one that cannot ask has none", async () => {
		const { url } = await serve({ model: scriptedModel([]) });
		expect(await sessionOf(url, {})).toBeNull();
		expect(await sessionOf(url, { elicitation: {} })).toMatch(/^[\w-]{36}$/);
	});

	test("is asked by the official client's handler, and its run continues", async () => {
		const { url } = await serve({ model: scriptedModel([asks, "It is gone."]), tools: [remove] });
		const client = new Client(
			{ name: "test", version: "1" },
			{ ...negotiated("2025"), capabilities: { elicitation: {} } },
		);
		const asked: string[] = [];
		client.setRequestHandler("elicitation/create", ({ params }) => {
			asked.push(params.message);
			return { action: "accept" as const, content: { approved: true } };
		});
		await client.connect(new StreamableHTTPClientTransport(new URL(url)));
		const { content } = await client.callTool({ name: "research", arguments: { prompt: "Remove it." } });
		expect(content).toMatchObject([{ text: "It is gone." }]);
		expect(asked).toMatchObject([expect.stringContaining("remove(")]);
		await client.close();
	});

	test("leaves its call with its connection, and the run stops", async () => {
		const begun = Promise.withResolvers<void>();
		const stopped = Promise.withResolvers<void>();
		const wait = tool({
			name: "wait",
			description: "Waits.",
			run: (_, { signal }) => {
				begun.resolve();
				return new Promise<string>(() => signal.addEventListener("abort", () => stopped.resolve()));
			},
		});
		const { url } = await serve({ model: scriptedModel([{ toolCalls: [{ name: "wait" }] }]), tools: [wait] });
		const client = new Client(
			{ name: "test", version: "1" },
			{ ...negotiated("2025"), capabilities: { elicitation: {} } },
		);
		await client.connect(new StreamableHTTPClientTransport(new URL(url)));
		const calling = client.callTool({ name: "research", arguments: { prompt: "Wait." } }).catch(() => {});
		await begun.promise;
		await client.close();
		await Promise.all([calling, stopped.promise]);
	});

	test("has to open another session if the server does not know its own, or for another caller", async () => {
		const authenticate = (request: Request) => ({ tenant: request.headers.get("x-tenant") ?? "t" });
		const { url } = await serve({ model: scriptedModel([]) }, { authenticate });
		const session = (await sessionOf(url, { elicitation: {} })) as string;
		const list = (headers: Record<string, string>) =>
			fetch(url, {
				...initialize({}, { "mcp-protocol-version": "2025-06-18", ...headers }),
				body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: {} }),
			});
		const own = await list({ "mcp-session-id": session });
		expect([own.status, await own.text()]).toEqual([200, expect.stringContaining("research")]);
		for (const headers of [
			{ "mcp-session-id": "unknown" },
			{ "mcp-session-id": session, "x-tenant": "other" },
		]) {
			const answer = await list(headers);
			expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: -32_001 } }]);
		}
		const end = (headers: Record<string, string>) => fetch(url, { method: "DELETE", headers });
		expect((await end({ "mcp-session-id": session, "x-tenant": "other" })).status).toBe(404);
		expect((await end({ "mcp-session-id": session })).status).toBe(200);
		expect((await end({ "mcp-session-id": session })).status).toBe(404);
	});
});

test("a client that cannot ask its user gets an error that explains that the call waits", async () => {
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
	const { url } = await serve({ model: scriptedModel([{ toolCalls: [{ name: "ask" }] }]), tools: [ask] });
	await using mcp = await connectMcp({ a: { url } });
	await expect(mcp.tools()[0]?.run({ prompt: "?" }, context("k"))).rejects.toThrow(
		/waits for an answer to ask/,
	);
});

test("callers see only their own sessions, and anonymous callers are rejected everywhere", async () => {
	const model = scriptedModel(["Hello, Ada."]);
	const authenticate = (request: Request) => {
		const user = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
		return user === undefined ? undefined : { tenant: "t", user };
	};
	const { url, service } = await serve({ model }, { authenticate });
	await expect(connectMcp({ a: { url } })).rejects.toMatchObject({ code: "mcp_unauthorized" });
	const as = (name: string) => ({ url, headers: { authorization: `Bearer ${name}` } });
	await using mcp = await connectMcp({ ada: as("ada"), bob: as("bob") });
	const [ada, bob] = mcp.tools();
	expect([ada?.name, bob?.name]).toEqual(["ada_research", "bob_research"]);
	await ada?.run({ prompt: "?" }, context("k"));
	const { sessions } = await service.list({ tenant: "t", user: "ada" });
	const session = sessions[0]?.sessionId as string;
	await expect(bob?.run({ prompt: "?", session }, context("k"))).rejects.toThrow(/no session/);
	expect((await service.list({ tenant: "t", user: "bob" })).sessions).toEqual([]);
});

test("without authentication only local callers are accepted", async () => {
	const { url, mcp } = await serve({ model: scriptedModel([]) });
	const to = (headers: Record<string, string>) => mcp.fetch(new Request(url, { method: "POST", headers }));
	expect((await to({ host: "evil.example" })).status).toBe(403);
	expect((await to({ host: "localhost", origin: "https://evil.example" })).status).toBe(403);
	expect((await to({ host: "localhost" })).status).not.toBe(403);
	const given = new Request(url, { method: "POST", headers: { host: "agents.example" } });
	expect((await mcp.fetch(given, { caller: { tenant: "t" } })).status).not.toBe(403);
});

test.each([
	["9", { description: "x" }],
	["a b", { description: "x" }],
	["a", { description: "" }],
])("an invalid tool is rejected: %j", (name, tool_) => {
	expect(() => mcpServer({ service: {} as SessionService, tools: { [name]: tool_ } })).toThrow(
		expect.objectContaining({ code: "invalid_mcp_tool", data: { tool: name } }),
	);
});

function negotiated(protocol: "2025" | "2026") {
	return { versionNegotiation: { mode: protocol === "2025" ? ("legacy" as const) : { pin: "2026-07-28" } } };
}

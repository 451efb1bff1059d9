// Tools that a model searches, across packages: over HTTP, with an approval and a restarted server, and from MCP servers.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createClient } from "@holdfast/client";
import { searchable } from "@holdfast/context";
import { connectMcp } from "@holdfast/mcp";
import { createServer, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const search = (query: string) => ({ toolCalls: [{ name: "search_tools", arguments: { query } }] });
const offered = ({ tools = [] }: LLMRequest) => tools.map(({ name }) => name);

test("over HTTP a found tool waits for approval and stays after a restart of the server", async () => {
	const file = join(temporaryFolder(), "sessions.db");
	const pay = tool({
		name: "pay",
		description: "Pays an invoice.",
		parameters: z.object({}),
		needsApproval: true,
		run: () => "paid",
	});
	const look = tool({ name: "look", description: "Looks.", parameters: z.object({}), run: () => "seen" });
	const model = scriptedModel([search("pay invoice"), { toolCalls: [{ name: "pay" }] }, "Paid."]);
	const serve = async () => {
		const host = sqliteHost(file);
		const service = sessionService({ host, agent: { model, tools: searchable([pay, look]) } });
		const server = createServer({ service });
		const { url } = await server.listen({ port: 0 });
		const close = async () => {
			await server.close({ drainMs: 0 });
			await host.close();
		};
		return { client: createClient({ url }), close };
	};
	const first = await serve();
	const waiting = await first.client.execute({ input: "Pay." }).result();
	expect(waiting).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ name: "pay" }] });
	await first.close();
	const second = await serve();
	const { sessionId, pendingToolCalls = [] } = waiting;
	await second.client.approve(sessionId, pendingToolCalls[0]?.id ?? "");
	await expect.poll(async () => (await second.client.session(sessionId)).status).toBe("completed");
	expect(model.requests.map(offered)).toEqual([
		["search_tools"],
		["search_tools", "pay"],
		["search_tools", "pay"],
	]);
	await second.close();
});

test("tools of an MCP server are found and called", async () => {
	const program = createRequire(import.meta.resolve("@holdfast/mcp")).resolve(
		"@modelcontextprotocol/server-everything/dist/index.js",
	);
	const mcp = await connectMcp({ everything: { command: process.execPath, args: [program] } });
	const [echo] = mcp.tools().filter(({ name = "" }) => name.endsWith("echo"));
	const name = echo?.name ?? "";
	const model = scriptedModel([
		search("echo a message back"),
		{ toolCalls: [{ name, arguments: { message: "hi" } }] },
		"Done.",
	]);
	const { toolExecutions } = await agent({ model, tools: searchable(mcp.tools()) }).query("Say hi.");
	expect(toolExecutions[1]).toMatchObject({ toolName: name, result: "Echo: hi" });
	expect(model.requests.map(offered)[0]).toEqual(["search_tools"]);
	await mcp.close();
});

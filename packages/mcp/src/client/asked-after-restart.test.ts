// What becomes of a question that a server asks in the middle of a call, when the process of the call dies.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { Agent } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectMcp, type McpServers } from "./index.ts";

let folder: string;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "asked-"));
});
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
	rmSync(folder, { recursive: true, force: true });
});

let asked = 0;
let ordered: unknown[] = [];

/** A shop that asks for the size of what is ordered. */
async function shop(retryPolicy: "manual-recovery" | "idempotent"): Promise<McpServers> {
	const server = new McpServer({ name: "shop", version: "1.0.0" });
	server.registerTool("order", { description: "Orders." }, async () => {
		asked++;
		const requestedSchema = { type: "object", properties: { size: { type: "string" } } } as const;
		const { action, content } = await server.server.elicitInput({ message: "Which size?", requestedSchema });
		if (action !== "accept")
			return { isError: true, content: [{ type: "text", text: "Nothing was ordered." }] };
		ordered.push(content?.size);
		return { content: [{ type: "text", text: `ordered ${content?.size}` }] };
	});
	const [ours, theirs] = InMemoryTransport.createLinkedPair();
	await server.connect(theirs);
	const mcp = await connectMcp(
		{ shop: { transport: () => ours, protocol: "2025", retryPolicy } },
		{ allow: { elicitation: true } },
	);
	ends.push(() => mcp.close());
	return mcp;
}

/** Begins a run that waits in the middle of its call, and leaves it as a process that dies does. */
async function cutOff(retryPolicy: "manual-recovery" | "idempotent"): Promise<void> {
	asked = 0;
	ordered = [];
	const mcp = await shop(retryPolicy);
	const host = sqliteHost(join(folder, "sessions.db"));
	const model = scriptedModel([{ toolCalls: [{ name: "order" }] }]);
	const first = new Agent({ model, tools: mcp.tools(), host });
	const run = await first.session("s").send("Order one.");
	run.result().catch(() => {});
	await expect.poll(() => mcp.requests().length).toBe(1);
	await first.close(); // the run is suspended, and its call with it
	await host.close();
	await mcp.close();
}

async function resumed(mcp: McpServers) {
	const host = sqliteHost(join(folder, "sessions.db"));
	const model = scriptedModel(({ messages }) => `It says: ${messages.at(-1)?.text}`);
	const next = new Agent({ model, tools: mcp.tools(), host });
	ends.push(
		() => host.close(),
		() => next.close(),
	);
	const run = await next.session("s").resume();
	const result = run?.result();
	result?.catch(() => {});
	return { result };
}

test("a repeatable call runs again, and its server asks again", async () => {
	await cutOff("idempotent");
	const mcp = await shop("idempotent");
	expect(mcp.requests()).toEqual([]);
	const { result } = await resumed(mcp);
	await expect.poll(() => mcp.requests()).toMatchObject([{ kind: "elicitation", message: "Which size?" }]);
	for (const { id } of mcp.requests()) mcp.answer(id, { action: "accept", content: { size: "M" } });
	expect((await result)?.text).toBe("It says: ordered M");
	expect([asked, ordered]).toEqual([2, ["M"]]);
});

test("a call that must not be repeated ends with an unknown outcome, and no one is asked", async () => {
	await cutOff("manual-recovery");
	const mcp = await shop("manual-recovery");
	const { result } = await resumed(mcp);
	expect((await result)?.text).toMatch(/not known|unknown/i);
	expect(mcp.requests()).toEqual([]);
	expect([asked, ordered]).toEqual([1, []]);
});

// Servers over HTTP that answer without an end: they take no memory, and no call waits for them.
import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { expect, test } from "vitest";
import { connectMcp } from "./connect-mcp.ts";

const limit = 10_000;
const events = { "content-type": "text/event-stream" };

/** What is sent in pieces until nobody reads it. */
function endless(sent: { bytes: number }, piece: string): ReadableStream<Uint8Array> {
	return new ReadableStream({
		pull(controller) {
			const bytes = new TextEncoder().encode(piece);
			sent.bytes += bytes.byteLength;
			controller.enqueue(bytes);
		},
	});
}

/** A server whose only tool answers so. */
function server(answer: () => Response): (url: string | URL, init?: RequestInit) => Promise<Response> {
	return async (_url, init = {}) => {
		if (init.method !== "POST") return new Response(null, { status: 405 });
		const { id, method, params } = JSON.parse(new TextDecoder().decode(init.body as ArrayBuffer));
		if (id === undefined) return new Response(null, { status: 202 });
		if (method === "tools/call") return answer();
		const results: Record<string, unknown> = {
			initialize: {
				protocolVersion: params?.protocolVersion,
				capabilities: { tools: {} },
				serverInfo: { name: "endless", version: "1" },
			},
			"tools/list": { tools: [{ name: "read", inputSchema: { type: "object", properties: {} } }] },
		};
		return Response.json({ jsonrpc: "2.0", id, result: results[method] ?? {} });
	};
}

test.each([
	["one answer", { "content-type": "application/json" }, '"xxxxxxxxx'],
	["one event", events, "data: x\n"],
	["one line", events, "xxxxxxxxxx"],
])("%s that never ends is cut off, and its call fails", async (_, headers, piece) => {
	const sent = { bytes: 0 };
	const fetch = server(() => new Response(endless(sent, piece), { headers }));
	await using mcp = await connectMcp({
		s: { url: "https://mcp.example/", protocol: "2025", fetch, maxAnswerBytes: limit },
	});
	const [tool] = mcp.tools();
	const model = scriptedModel([{ toolCalls: [{ name: tool?.name ?? "" }] }, "It failed."]);
	const { turn } = await agent({ model, tools: mcp.tools() }).generate("go");
	expect(turn.response.text).toBe("It failed.");
	expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/isError":true/);
	expect(sent.bytes).toBeLessThan(limit * 2);
});

test("a limit of answers is rejected for a server without an address", async () => {
	const program = { command: "none", maxAnswerBytes: 1 };
	await expect(connectMcp({ s: program })).rejects.toMatchObject({ code: "invalid_mcp_server" });
});

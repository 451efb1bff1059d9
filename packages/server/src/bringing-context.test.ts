// Clients that define the sessions they open: a plain client, as such clients are written.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { memoryHost } from "holdfast";
import { afterEach, expect, test } from "vitest";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { createServer, type Server } from "./server.ts";
import { sessionService } from "./service/index.ts";
import { refusal } from "./setup.fixture.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
	for (const each of open.splice(0)) await each.close();
});

async function listening(model: ScriptedModel): Promise<{ readonly server: Server; readonly url: string }> {
	const service = sessionService({
		host: memoryHost(),
		agent: { model },
		models: { "gpt-4o-mini": model },
		clients: "bring-context",
	});
	const server = createServer({ service });
	open.push({ close: () => server.close({ drainMs: 0 }) });
	const { url } = await server.listen({ port: 0 });
	return { server, url };
}

test("a client that posts strings with its tools, a model and an empty history runs without changes", async () => {
	const model = scriptedModel([
		{ text: "Looking.", toolCalls: [{ name: "locate", id: "c", arguments: { exact: true } }] },
		"In Rome.",
	]);
	const { url } = await listening(model);
	const seen: string[] = [];
	const handleEvent = (event: { type: string }): void => void seen.push(event.type);
	const executeLocalTools = async (calls: { id: string }[]): Promise<object[]> =>
		calls.map(({ id }) => ({ role: "tool", toolCallId: id, output: "Rome" }));

	// The example, whose addresses are relative to its page.
	async function executeOnServer(input: object, tools: object[]): Promise<string | null> {
		const response = await fetch(`${url}/api/agent/execute`, {
			method: "POST",
			body: JSON.stringify({ input, context: { messages: [], tools }, options: { model: "gpt-4o-mini" } }),
		});
		const sessionId = response.headers.get("X-Session-Id");
		const reader = (response.body as ReadableStream<Uint8Array>).getReader();
		const decoder = new TextDecoder();
		let pendingToolCalls: { id: string }[] = [];
		while (true) {
			const { done, value } = await reader.read();
			if (done) break;
			const lines = decoder.decode(value).split("\n");
			for (const line of lines) {
				if (line.startsWith("data: ")) {
					const event = JSON.parse(line.slice(6));
					handleEvent(event);
					if (event.type === "execute_complete" && event.status === "awaiting_tool_execution") {
						pendingToolCalls = event.pendingToolCalls;
					}
				}
			}
		}
		if (pendingToolCalls.length > 0) {
			const toolResults = await executeLocalTools(pendingToolCalls);
			await (
				await fetch(`${url}/api/agent/execute`, {
					method: "POST",
					body: JSON.stringify({ sessionId, input: toolResults }),
				})
			).text();
		}
		return sessionId;
	}

	const locate = {
		name: "locate",
		label: "Locate",
		description: "Where the user is.",
		parameters: { type: "object", properties: { exact: { type: "boolean" } } },
		async *execute() {},
	};
	const sessionId = await executeOnServer({ role: "user", content: "Where am I?" }, [locate]);
	expect(seen.at(-1)).toBe("execute_complete");
	const { status, messages } = (await (await fetch(`${url}/api/agent/session/${sessionId}`)).json()) as {
		status: string;
		messages: { role: string }[];
	};
	expect([status, ...messages.map(({ role }) => role)]).toEqual([
		"completed",
		"user",
		"assistant",
		"tool",
		"assistant",
	]);
	expect(model.requests[1]?.messages.at(-1)).toMatchObject({
		results: [{ toolCallId: "c", result: "Rome" }],
	});
});

function serve(options: ServedOptions["serving"]): Served {
	const served = serveScript(() => "Fine.", options === undefined ? {} : { serving: options });
	open.push(served);
	return served;
}

/** Posts bytes, which `fetch` gives no content type. */
function postBytes(
	{ handler }: Served,
	body: object,
	headers: Record<string, string> = {},
): Promise<Response> {
	const bytes = new TextEncoder().encode(JSON.stringify(body));
	return handler.fetch(
		new Request("http://localhost/api/agent/execute", { method: "POST", body: bytes, headers }),
	);
}

test("such a client must define a new session: without a context it gets 400, with or without an id", async () => {
	const served = serve({ clients: "bring-context" });
	for (const body of [{ input: "hi" }, { input: "hi", sessionId: "s" }])
		expect(await refusal(await served.post("/api/agent/execute", body))).toEqual([400, "context_required"]);
	await served.run({ input: "hi", sessionId: "s", context: {} });
	await served.run({ input: "again", sessionId: "s" });
	expect((await served.session("s")).messages).toHaveLength(4);
});

test("JSON without a content type is read by every server, but not for a page of another origin", async () => {
	for (const served of [serve(undefined), serve({ clients: "bring-context" })]) {
		const body = { input: say("hi"), context: {} };
		const response = await postBytes(served, body);
		expect(response.status).toBe(200);
		await response.text();
		expect(await refusal(await postBytes(served, body, { origin: "https://evil.example" }))).toEqual([
			403,
			"origin_not_allowed",
		]);
	}
});

test("text is read as JSON only where clients bring their context, and never from a page of another origin", async () => {
	const body = { input: say("hi"), context: {} };
	const text = { "content-type": "text/plain;charset=UTF-8" };
	expect(await refusal(await postBytes(serve(undefined), body, text))).toEqual([
		415,
		"unsupported_media_type",
	]);
	const served = serve({ clients: "bring-context" });
	const response = await postBytes(served, body, text);
	expect(response.status).toBe(200);
	await response.text();
	expect(await refusal(await postBytes(served, body, { ...text, origin: "https://evil.example" }))).toEqual([
		403,
		"origin_not_allowed",
	]);
	expect(
		await refusal(await postBytes(served, body, { "content-type": "application/x-www-form-urlencoded" })),
	).toEqual([415, "unsupported_media_type"]);
});

test("a rejected field names the option that allows it", async () => {
	const tools = [{ name: "locate", description: "Where.", parameters: { type: "object" } }];
	const response = await serve(undefined).post("/api/agent/execute", { input: "hi", context: { tools } });
	expect([response.status, (await response.json()).error]).toEqual([
		403,
		expect.stringContaining('`clientsMaySet: ["tools"]`'),
	]);
});

test("how clients open sessions is one of the known ways, and leaves nothing else to allow", () => {
	expect(() => serveScript([], { serving: { clients: "all" as never } })).toThrow("`clients`");
	expect(() => serveScript([], { serving: { clients: "bring-context", clientsMaySet: ["tools"] } })).toThrow(
		"Omit `clientsMaySet`",
	);
});

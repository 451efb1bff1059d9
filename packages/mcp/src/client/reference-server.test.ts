// The client against the reference server of the protocol's authors, started as a program.
import { createRequire } from "node:module";
import { scriptedModel } from "@holdfast/testing";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Agent, agent } from "holdfast";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectMcp, type McpServers } from "./index.ts";

const program = createRequire(import.meta.url).resolve(
	"@modelcontextprotocol/server-everything/dist/index.js",
);
const everything = { command: process.execPath, args: [program] };

describe("the reference server", () => {
	let mcp: McpServers;

	beforeAll(async () => {
		mcp = await connectMcp(
			{ everything: { ...everything, resources: true, protocol: "2025" } },
			{ allow: { elicitation: true, sampling: true } },
		);
	});
	afterAll(async () => {
		await mcp.close();
	});

	const call = async (name: string, params: object = {}) => {
		const model = scriptedModel([
			{ toolCalls: [{ name, arguments: params as Record<string, unknown> }] },
			"Done.",
		]);
		const { turn } = await agent({ model, tools: mcp.tools() }).generate("Go on.");
		return { execution: turn.toolExecutions[0], second: model.requests[1] };
	};

	test("text is text", async () => {
		expect((await call("echo", { message: "hi" })).execution?.result).toBe("Echo: hi");
	});

	test("data is data", async () => {
		const { execution } = await call("get-structured-content", { location: "Chicago" });
		expect(execution?.result).toEqual({ temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });
	});

	test("a picture reaches the model as a picture", async () => {
		const { execution, second } = await call("get-tiny-image");
		const picture = { type: "image", mimeType: "image/png", source: { type: "base64" } };
		expect(execution?.result).toEqual(expect.arrayContaining([expect.objectContaining({ type: "text" })]));
		expect(execution?.result).toContainEqual(
			expect.objectContaining({ type: "image", mimeType: "image/png" }),
		);
		expect(second?.messages.at(-1)).toMatchObject({ results: [{ result: [{}, picture, {}] }] });
	});

	test("resources are listed with their location, and shown if they are text", async () => {
		const links = await call("get-resource-links", { count: 2 });
		expect(links.execution?.result).toContain("[resource Text Resource 2 at demo://resource/dynamic/text/2");
		const text = await call("get-resource-reference", { resourceType: "Text", resourceId: 1 });
		expect(text.execution?.result).toContain("[resource demo://resource/dynamic/text/1]\nResource 1:");
	});

	test("resources are listed and read if that is enabled", async () => {
		const listed = (await call("read_resource")).execution?.result as { uri: string }[];
		expect(listed.length).toBeGreaterThan(0);
		expect(listed[0]).toMatchObject({ uri: expect.any(String), name: expect.any(String) });
		const read = await call("read_resource", { uri: "demo://resource/dynamic/text/1" });
		expect(read.execution).toMatchObject({ isError: false, result: expect.stringMatching(/^Resource 1:/) });
		const missing = await call("read_resource", { uri: "demo://nothing" });
		expect(missing.execution?.isError).toBe(true);
	});

	test("progress of a long operation is emitted while it runs", async () => {
		// The client forgets who hears of progress with the answer: on a busy machine both come at once, if they are near.
		const parameters = { duration: 2, steps: 2 };
		const name = "trigger-long-running-operation";
		const model = scriptedModel([{ toolCalls: [{ name, arguments: parameters }] }, "Done."]);
		const worker = new Agent({ model, tools: mcp.tools() });
		const deltas: string[] = [];
		for await (const event of (await worker.session("s").send("Work.")).watch())
			if (event.type === "tool_delta") deltas.push(event.delta);
		await worker.close();
		expect(deltas[0]).toBe("1/2\n");
	});

	test("its request to the user waits for an answer, and the answer reaches it", async () => {
		const model = scriptedModel([
			{ toolCalls: [{ name: "trigger-elicitation-request", id: "c1" }] },
			"Done.",
		]);
		const asker = new Agent({ model, tools: mcp.tools() });
		const run = await asker.session("form").send("Ask me.");
		const result = run.result();
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		const [request] = mcp.requests();
		expect(request).toMatchObject({
			kind: "elicitation",
			server: "everything",
			calls: [{ toolCallId: "c1", toolName: "trigger-elicitation-request", sessionKey: "form" }],
			schema: { type: "object", properties: { name: { type: "string" } } },
		});
		mcp.answer(request?.id as string, { action: "accept", content: { name: "Ada" } });
		await result;
		expect(mcp.requests()).toEqual([]);
		expect(() => mcp.answer(request?.id as string, { action: "decline" })).toThrow(
			expect.objectContaining({ code: "unknown_mcp_request" }),
		);
		const messages = JSON.stringify(model.requests[1]?.messages);
		expect(messages).toContain("Ada");
		await asker.close();
	});

	test.each([
		["declines it", { action: "decline" }, "declined"],
		["cancels it", { action: "cancel" }, "cancel"],
	] as const)("the user %s", async (_, answer, said) => {
		const calling = call("trigger-elicitation-request");
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		mcp.answer(mcp.requests()[0]?.id as string, answer);
		expect(String((await calling).execution?.result)).toContain(said);
	});

	test("its request to a model is sent after a user approves it, with the model of the calling agent", async () => {
		const name = "trigger-sampling-request";
		const model = scriptedModel([
			{ toolCalls: [{ name, arguments: { prompt: "Say yes.", maxTokens: 10 } }] },
			"Yes!",
			"Done.",
		]);
		const generating = agent({ model, tools: mcp.tools() }).generate("Go on.");
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		expect(model.requests).toHaveLength(1);
		const [request] = mcp.requests();
		expect(request).toMatchObject({ kind: "sampling", maxTokens: 10 });
		expect(JSON.stringify(request)).toContain("Say yes.");
		mcp.answer(request?.id as string, { action: "accept" });
		const { turn } = await generating;
		expect(turn.response.text).toBe("Done.");
		expect(String(turn.toolExecutions[0]?.result)).toContain("Yes!");
		expect(model.requests[1]?.messages.at(-1)?.text).toContain("Say yes.");
	});

	test("its request to a model is not sent if a user denies it, or answers instead", async () => {
		const calling = call("trigger-sampling-request", { prompt: "Say yes.", maxTokens: 10 });
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		mcp.answer(mcp.requests()[0]?.id as string, { action: "decline" });
		expect(String((await calling).execution?.result)).toContain("did not permit");
		const answered = call("trigger-sampling-request", { prompt: "Say yes.", maxTokens: 10 });
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		mcp.answer(mcp.requests()[0]?.id as string, { action: "accept", content: "A person says no." });
		expect(String((await answered).execution?.result)).toContain("A person says no.");
	});

	test("a request ends with the call that it belongs to", async () => {
		const stop = new AbortController();
		const model = scriptedModel([{ toolCalls: [{ name: "trigger-elicitation-request" }] }, "Never said."]);
		const ended = agent({ model, tools: mcp.tools() })
			.generate("Ask me.", undefined, { signal: stop.signal })
			.catch((error) => error);
		await expect.poll(() => mcp.requests()).toHaveLength(1);
		stop.abort();
		await ended;
		await expect.poll(() => mcp.requests()).toEqual([]);
	});
});

test("a program that died is restarted by the next call", async () => {
	let last: StdioClientTransport | undefined;
	const transport = () => {
		last = new StdioClientTransport({ ...everything, stderr: "ignore" });
		return last;
	};
	await using mcp = await connectMcp({ everything: { transport, protocol: "2025" } });
	const echo = mcp.tools().find(({ name }) => name === "echo");
	const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;
	expect(await echo?.run({ message: "1" }, context)).toBe("Echo: 1");
	const first = last?.pid as number;
	process.kill(first, "SIGKILL");
	await expect.poll(() => mcp.servers()[0]?.status).toBe("disconnected");
	expect(await echo?.run({ message: "2" }, context)).toBe("Echo: 2");
	expect(last?.pid).not.toBe(first);
});

test("without the option, a server is informed that no user can be asked", async () => {
	await using mcp = await connectMcp({ everything });
	const names = mcp.tools().map(({ name }) => name);
	expect(names).not.toContain("trigger-elicitation-request");
	expect(names).not.toContain("read_resource");
});

test("a program that does not exist cannot be connected to", async () => {
	const nothing = { command: "/nonexistent/program" };
	await expect(connectMcp({ nothing })).rejects.toMatchObject({ code: "mcp_connect_failed" });
});

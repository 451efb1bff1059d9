import { expect, onTestFinished, test } from "vitest";
import type { ToolDefinition } from "../types/index.ts";
import type { GivenMcpTool } from "./callable.ts";
import type { GivenMcp } from "./mcp-tools.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const calls = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args, id: "c1" }] });
const parameters = { type: "object", properties: { path: { type: "string" } } };

/** Servers of tools: `files` has `read` and `list`, `clock` has `now`, and `away` cannot be reached. */
function mcp(run: GivenMcpTool["run"], more: Partial<GivenMcpTool> = {}): GivenMcp {
	const tool = (server: string, toolName: string): GivenMcpTool => ({
		server,
		toolName,
		description: `${toolName} of ${server}`,
		parameters,
		run: (args, context) => run({ tool: toolName, ...args }, context),
		...more,
	});
	return {
		tools: () => [tool("files", "read"), tool("files", "list"), tool("clock", "now")],
		servers: () => ["files", "clock", "away"].map((name) => ({ name, status: "ready" })),
	};
}

test("tools of servers are offered by the names of a prompt, and called with the model's arguments", async () => {
	const provider = scripted([calls("files_read", { path: "a.txt" }), "Read."]);
	const given: unknown[] = [];
	const servers = mcp((args, { idempotencyKey }) => {
		given.push([args, typeof idempotencyKey]);
		return "what it says";
	});
	const project = oneAgent(provider, { prompt: { tools: ["mcp:files", "mcp:clock.now", "mcp:away"] } });
	const { threads } = start(project, { mcp: servers });
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Read it");
	expect(provider.requests[0]?.tools).toEqual([
		{ type: "function", function: { name: "files_read", description: "read of files", parameters } },
		{ type: "function", function: { name: "files_list", description: "list of files", parameters } },
		{ type: "function", function: { name: "clock_now", description: "now of clock", parameters } },
	]);
	expect(given).toEqual([[{ tool: "read", path: "a.txt" }, "string"]]);
	expect(await said(threads, threadId)).toEqual([
		"user: Read it",
		"assistant: <files_read>",
		"tool: what it says",
		"assistant: Read.",
	]);
});

test("a failed call has an error as its result; data is JSON, and pictures are files of the thread", async () => {
	const pixel =
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
	const results = [
		new Error("it is gone"),
		{ size: 3 },
		[
			{ type: "text", text: "here" },
			{ type: "image", source: { type: "base64", data: pixel }, mimeType: "image/png" },
		],
	];
	const servers = mcp(() => {
		const next = results.shift();
		if (next instanceof Error) throw next;
		return next;
	});
	const provider = scripted((_, call) =>
		call < 3 ? { calls: [{ name: "files_list", id: `c${call}` }] } : "Done.",
	);
	const { threads } = start(oneAgent(provider, { prompt: { tools: ["mcp:files.list"] } }), { mcp: servers });
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "List");
	const state = await threads.get(threadId);
	const { messages = [] } = (await state?.getMessages()) ?? {};
	const tools = messages.filter(({ role }) => role === "tool");
	expect(tools.map(({ content, status }) => [content, status])).toEqual([
		["it is gone", "failed"],
		['{"size":3}', "completed"],
		["here", "completed"],
	]);
	const [file] = tools[2]?.attachments ?? [];
	expect(file?.mimeType).toBe("image/png");
	expect(
		Buffer.from((await state?.readFile(file?.path ?? "")) ?? new ArrayBuffer(0)).toString("base64"),
	).toBe(pixel);
});

test.each([
	["mcp:files", undefined, /no MCP servers are given/],
	["mcp:other.read", mcp(() => ""), /no MCP server "other"\. Known: files, clock, away/],
	["mcp:files.write", mcp(() => ""), /has no such tool\. It has: read, list/],
	["mcp:files.read", mcp(() => "", { needsApproval: true }), /"read" of the MCP server needs approval/],
])("an unknown name is an error before anything runs: %s", (name, servers, why) => {
	const project = oneAgent(scripted([]), { prompt: { tools: [name] } });
	const options = servers === undefined ? {} : { mcp: servers };
	expect(() => start(project, options)).toThrow(expect.objectContaining({ code: "mcp_tools_missing" }));
	expect(() => start(project, options)).toThrow(why);
});

test("a project that replaces another is used as far as possible, and the log lists what is missing", async () => {
	const known: ToolDefinition = {
		description: "Known.",
		args: null,
		execute: async () => ({ status: "success" }),
	} as never;
	const provider = scripted(["Hello.", "Hello again."]);
	const source = { current: oneAgent(provider, { tools: { known } }) };
	const { threads, logs } = start(source, { mcp: mcp(() => "") });
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Hi");
	source.current = oneAgent(provider, {
		tools: { known },
		prompt: { tools: ["known", "mcp:other", "mcp:clock.now"] },
	});
	await say(threads, threadId, "Hi");
	expect(provider.requests[1]?.tools?.map((each) => each.function.name)).toEqual(["known", "clock_now"]);
	expect(logs.map(({ topic, message }) => [topic, message])).toEqual([
		["mcp", expect.stringContaining('no MCP server "other"')],
	]);
});

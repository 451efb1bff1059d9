/** The MCP servers that a project's file names. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { connectServers } from "./project-servers.ts";
import { run, start } from "./spawn.fixture.ts";

/** A variable, as the file names it. */
const variable = (name: string): string => ["$", "{", name, "}"].join("");

const connecting = (given: unknown[]) => async () => ({
	connectMcp: async (servers: unknown) => {
		given.push(servers);
		return { tools: () => [], servers: () => [], close: async () => {} };
	},
});

function folderWith(text: string): string {
	const folder = temporaryFolder();
	writeFileSync(join(folder, "mcp.json"), text);
	return folder;
}

test("are connected with values of the environment instead of their names", async () => {
	const given: unknown[] = [];
	const servers = {
		search: { url: "https://search.example/mcp", headers: { authorization: `Bearer ${variable("TOKEN")}` } },
	};
	await connectServers(
		folderWith(JSON.stringify({ mcpServers: servers })),
		{ TOKEN: "t" },
		connecting(given),
	);
	expect(given).toEqual([
		{ search: { url: "https://search.example/mcp", headers: { authorization: "Bearer t" } } },
	]);
	expect(await connectServers(temporaryFolder(), {}, connecting(given))).toBeUndefined();
	expect(given).toHaveLength(1);
});

test.each([
	["{", /is not JSON/],
	["[]", /`mcpServers`/],
	['{ "mcpServers": [] }', /`mcpServers`/],
	[
		`{ "mcpServers": { "a": { "url": "${variable("MISSING")}" } } }`,
		/\$\{MISSING\}, which the environment does not have/,
	],
])("cannot be those of %s", async (text, why) => {
	await expect(connectServers(folderWith(text), {}, connecting([]))).rejects.toThrow(why);
});

test("explain what to do if they cannot be connected", async () => {
	const failing = async () => ({
		connectMcp: () => Promise.reject(new Error("the server is away")),
	});
	const folder = folderWith('{ "mcpServers": { "a": { "url": "https://a.example" } } }');
	await expect(connectServers(folder, {}, failing)).rejects.toThrow(
		/mcp\.json cannot be used: the server is away/,
	);
});

const server = `import { createInterface } from "node:readline";
const answers = {
	initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "clock", version: "1" } }),
	"tools/list": () => ({ tools: [{ name: "now", description: "The time.", inputSchema: { type: "object", properties: {} } }] }),
	"tools/call": () => ({ content: [{ type: "text", text: "It is noon." }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	const result = answers[method]?.(params);
	const error = { code: -32601, message: "There is no such method." };
	console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
}
`;

const model = `import { defineModel } from "@holdfast/threads";
export default defineModel({
	name: "offline",
	model: "rules",
	provider: () => ({
		name: "rules",
		specificationVersion: "1",
		async generate() { throw new Error("threads stream"); },
		async *stream({ messages, tools = [] }) {
			const result = messages.findLast(({ role }) => role === "tool");
			const name = tools.map((tool) => tool.function.name).find((each) => each.startsWith("clock"));
			if (result !== undefined) yield { type: "content-delta", delta: "I heard: " + JSON.stringify(result.content) };
			else {
				yield { type: "tool-call-start", id: "c1", name };
				yield { type: "tool-call-done", id: "c1", arguments: {} };
			}
			yield { type: "finish", finishReason: result === undefined ? "tool_calls" : "stop", usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } };
		},
	}),
});
`;

test("of a served project are called by its threads, and an unknown name is an error", async () => {
	const folder = temporaryFolder();
	await run(["init", "shop"], { folder });
	const project = join(folder, "shop");
	writeFileSync(join(project, "clock.mjs"), server);
	writeFileSync(join(project, "agents/models/offline.ts"), model);
	const prompt = (name: string): string => `import { definePrompt } from "@holdfast/threads";
export default definePrompt({ name: "assist", toolDescription: "Answers.", prompt: "Answer.", model: "offline", tools: [${JSON.stringify(name)}] });
`;
	const written = {
		clock: { command: process.execPath, args: [join(project, "clock.mjs")], protocol: "2025" },
	};
	writeFileSync(join(project, "mcp.json"), JSON.stringify({ mcpServers: written }));
	writeFileSync(join(project, "agents/prompts/assist.ts"), prompt("mcp:clock.then"));
	const refused = await run(["serve", "--project", "shop", "--port", "0"], { folder });
	expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("no such tool. It has: now")]);
	writeFileSync(join(project, "agents/prompts/assist.ts"), prompt("mcp:clock"));
	const served = start(["serve", "--project", "shop", "--port", "0", "--json"], { folder });
	onTestFinished(() => void served.child.kill("SIGKILL"));
	await served.until(/"type":"begin","url":"[^"]*"/);
	const { url } = JSON.parse(served.output()) as { readonly url: string };
	const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
		const headers = { "content-type": "application/json" };
		const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
		expect(response.ok).toBe(true);
		return (await response.json()) as { readonly id: string };
	};
	const { id } = await post("/api/threads", { agent_id: "assistant" });
	await post(`/api/threads/${id}/messages`, { content: "What time is it?" });
	const last = async (): Promise<string> => {
		const list = (await (await fetch(`${url}/api/threads/${id}/messages?order=desc`)).json()) as {
			readonly messages: readonly { readonly content: string }[];
		};
		return list.messages[0]?.content ?? "";
	};
	await expect.poll(last).toContain("I heard: ");
	expect(await last()).toContain("It is noon.");
	served.child.kill("SIGTERM");
	expect((await served.finished).code).toBe(0);
});

// Long results of every kind of tool, on every durable host: stored, read after a restart, copied by forks, and deleted.
// Without the plugin, the model sees a part of them.
import { join } from "node:path";
import { largeResults } from "@holdfast/context";
import { connectMcp } from "@holdfast/mcp";
import { postgresHost } from "@holdfast/postgres";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { isToolResultMessage, type Message } from "@holdfast/upp";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { Agent, type AgentOptions, createSubAgentTool, type Host, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { usePostgres as openPostgres, places } from "./matrix/places.fixture.ts";
import { listen } from "./shared/listen.fixture.ts";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const log = Array.from({ length: 2_000 }, (_, at) => `line ${at + 1} of the log ${".".repeat(40)}`).join(
	"\n",
);
const picture = "iVBORw0KGgo=";
const parameters = { type: "object", properties: {} } as const;
const plugins = [largeResults({ limit: 2_000 })];
const about = { name: "look", description: "Looks.", parameters };

type Tools = readonly NonNullable<Extract<AgentOptions["tools"], readonly unknown[]>>[number][];

let mcp: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
	const content = [{ type: "text", text: log }];
	const answers = {
		text: { content },
		data: { content: [], structuredContent: { lines: log.split("\n") } },
		picture: { content: [...content, { type: "image", data: picture, mimeType: "image/png" }] },
		failure: { content, isError: true },
	};
	const handler = createMcpHandler(() => {
		const docs = new McpServer({ name: "docs", version: "1.0.0" });
		const inputSchema = fromJsonSchema({ type: "object" });
		for (const [name, answer] of Object.entries(answers))
			docs.registerTool(name, { description: "Looks.", inputSchema }, (() => answer) as never);
		return docs;
	});
	mcp = await listen(async (request) => handler.fetch(request));
});
let server: Promise<PostgresServer> | undefined;
afterAll(async () => {
	await mcp.close();
	await (await server)?.stop();
});

/** Returns a function that opens the same store again. */
async function storeOf(kind: "SQLite" | "Postgres"): Promise<() => Host> {
	if (kind === "SQLite") {
		const path = join(temporaryFolder(), "sessions.db");
		return () => sqliteHost(path);
	}
	server ??= startPostgresServer();
	const { url, schema } = await server.then((each) => ({ url: each.url, schema: each.schema() }));
	return () => postgresHost({ connectionString: url, schema });
}

const ask = (id: string, name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ id, name, arguments: args as never }],
});

function results(messages: readonly Message[]): readonly unknown[] {
	return messages
		.filter(isToolResultMessage)
		.flatMap((message) => message.results.map(({ result }) => result));
}

const ofMcp = (name: string) => async (): Promise<Tools> => {
	const servers = await connectMcp({ docs: { url: `http://127.0.0.1:${mcp.port}/mcp` } });
	onTestFinished(() => servers.close());
	return [{ ...servers.tools().find((each) => each.name.endsWith(name)), name: "look" }] as unknown as Tools;
};
const clerk = () => new Agent({ name: "clerk", description: "Tells.", model: scriptedModel([log, log]) });

/** The tool `look` in each form. */
const kinds: Readonly<Record<string, () => Tools | Promise<Tools>>> = {
	"a text": () => [tool({ ...about, run: () => log })],
	data: () => [tool({ ...about, run: () => ({ lines: log.split("\n") }) })],
	"an error": () => [
		tool({
			...about,
			run() {
				throw new Error(log);
			},
		}),
	],
	"a streaming tool": () => [
		tool({
			...about,
			async *execute() {
				yield { type: "delta" as const, delta: "looking" };
				yield { type: "complete" as const, output: log };
			},
		} as never),
	],
	"a text of an MCP server": ofMcp("text"),
	"data of an MCP server": ofMcp("data"),
	"a picture with a text of an MCP server": ofMcp("picture"),
	"an error of an MCP server": ofMcp("failure"),
	"a sub-agent": () => [createSubAgentTool({ ...about, agent: clerk() }) as never],
	"a script": () => {
		const read = tool({ ...about, name: "read", run: () => log });
		return [{ ...codeMode({ name: "look", tools: [read] }) } as never];
	},
};

describe("without largeResults()", () => {
	test.each(Object.keys(kinds))("the model sees the beginning and the end of %s", async (kind) => {
		const tools = await (kinds[kind] as (typeof kinds)[string])();
		const call = ask("c1", "look", kind === "a script" ? { code: "return await tools.read({});" } : {});
		const model = scriptedModel([call, "Done."]);
		const clerk = new Agent({ model, tools, onWarning: () => {} });
		await (await clerk.session("ann").send("Look.")).result();
		const [shown] = results(model.requests[1]?.messages ?? []).map((result) => JSON.stringify(result));
		expect(shown).toContain("line 1 of the log");
		expect(shown).toContain("line 2000 of the log");
		expect(shown).not.toContain("line 1400 of the log");
		expect(shown?.length).toBeLessThan(108_000);
		expect(shown?.includes(picture)).toBe(kind.includes("picture"));
	});

	test("the code of a script and of a workflow receives whole results, without a warning", async () => {
		const read = tool({ ...about, name: "read", run: () => log });
		const code = "const text = await tools.read({}); return text.length;";
		const model = scriptedModel([ask("c1", "look", { code }), "Done."]);
		const warnings: unknown[] = [];
		const onWarning = (warning: unknown): void => void warnings.push(warning);
		const tools = [codeMode({ name: "look", tools: [read] }) as never];
		await new Agent({ model, tools, onWarning }).generate("Go.");
		expect(results(model.requests[1]?.messages ?? [])).toEqual([String(log.length)]);
		const counting = workflow({ name: "counting", tools: [read], onWarning }, async (flow) => {
			return String(await flow.tool(read, {})).length;
		});
		const run = await counting.session("ann").send(undefined);
		expect(await run.result()).toMatchObject({ output: log.length });
		expect(warnings).toEqual([]);
	});
});

describe.each(["SQLite", "Postgres"] as const)("on %s", (store) => {
	test.each(Object.keys(kinds))("%s is stored, read in a new process, forked and deleted", async (kind) => {
		const open = await storeOf(store);
		const tools = await (kinds[kind] as (typeof kinds)[string])();
		const call = ask("c1", "look", kind === "a script" ? { code: "return await tools.read({});" } : {});
		const first = open();
		const one = new Agent({ host: first, model: scriptedModel(["Hi.", call, "Done."]), tools, plugins });
		const greeted = await one.session("ann").send("Hello");
		await greeted.result();
		await (await one.session("ann").send("Look.")).result();
		const [shown] = results((await one.session("ann").state()).messages);
		expect(JSON.stringify(shown)).toContain('read_result and the id \\"c1\\"');
		expect(JSON.stringify(shown).length).toBeLessThan(3_000);
		if (kind.includes("picture")) expect(JSON.stringify(shown)).toContain(picture);
		await one.session("ann").fork("early", { at: greeted.runId });
		await one.session("ann").fork("late");
		await one.close();
		await first.close();

		const second = open();
		const read = ask("r1", "read_result", { id: "c1", search: "line 1999 " });
		const two = new Agent({
			host: second,
			model: scriptedModel(({ messages }) =>
				isToolResultMessage(messages.at(-1) as never) ? "Done." : read,
			),
			tools,
			plugins,
		});
		const readIn = async (key: string): Promise<unknown> => {
			await (await two.session(key).send("Read.")).result();
			return results((await two.session(key).state()).messages).at(-1);
		};
		expect(await readIn("ann")).toMatch(/^\[1 match/);
		expect(await readIn("early")).toContain("no stored result");
		await two.session("ann").delete();
		expect(await readIn("ann")).toContain("no stored result");
		expect(await readIn("late")).toMatch(/^\[1 match/);
		await two.session("late").delete();
		for (const key of ["ann", "late", "early"])
			expect(await second.files?.of(key, "large-results").list()).toEqual([]);
		await two.close();
		await second.close();
	});

	test("an edited turn stores its own result, and its predecessor's stays readable", async () => {
		const host = (await storeOf(store))();
		const model = scriptedModel([
			ask("c1", "look"),
			"Done.",
			ask("c1", "look"),
			"Done.",
			ask("r1", "read_result", { id: "c1", startLine: 2_000 }),
			"Done.",
		]);
		const tools = [tool({ ...about, run: () => log })];
		const session = new Agent({ host, model, tools, plugins }).session("ann");
		await (await session.send("Look.", { messageId: "m1" })).result();
		await (await session.start("Look again.", { insteadOf: "m1" })).result();
		const [shown] = results((await session.state()).messages) as string[];
		const id = /the id "(?<id>[^"]+)"/.exec(shown ?? "")?.groups?.id ?? "";
		expect(await host.files?.of("ann", "large-results").stat(id)).toBeDefined();
		await (await session.send("Read.")).result();
		expect(results((await session.state()).messages).at(-1)).toContain("line 2000 of the log");
		await host.close();
	});
});

test.each([
	"a session on SQLite",
	"a session on Postgres",
	"an execute session on SQLite",
	"HTTP on SQLite",
	"the client",
	"the inspector",
	"useChat",
	"useChat with the transport of the AI SDK",
	"AG-UI",
] as const)("an answer to a remote tool is stored in %s", async (place) => {
	if (place === "a session on Postgres") openPostgres(await storeOf("Postgres"));
	const model = scriptedModel([
		ask("c1", "look"),
		ask("r1", "read_result", { id: "c1", search: "line 1999 " }),
		"Done.",
	]);
	const options = { model, tools: [tool(about)], plugins };
	const talk = await places[place](() => options as never);
	const [asked] = await talk.say("Look.");
	await talk.answer([[asked as never, { output: log }]]);
	await expect.poll(() => model.requests.length).toBe(3);
	expect(results(model.requests[2]?.messages ?? [])).toEqual([
		expect.stringContaining('read_result and the id "c1"'),
		expect.stringMatching(/^\[1 match/),
	]);
	await talk.close();
});

// What people get wrong first. Each mistake has a message that says what to change, and a line on the page "Common mistakes".
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { openai } from "@ai-sdk/openai";
import { createClient } from "@holdfast/client";
import { connectMcp } from "@holdfast/mcp";
import { postgresHost } from "@holdfast/postgres";
import { createHandler, listen, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { loadProject } from "@holdfast/threads";
import { agent, createSession, execute, isHoldfastError, memoryHost, tool } from "holdfast";
import { logging } from "holdfast/middleware";
import { sqliteHost } from "holdfast/sqlite";
import * as valibot from "valibot";
import { expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";

const model = scriptedModel(() => "Hello.");
const parameters = { type: "object", properties: {} } as const;
const common = { name: "weather", description: "The weather." } as const;
const weather = tool({ ...common, parameters, run: () => "Sunny." });
const clerk = () => agent({ model, host: memoryHost() });
const made = (options: object) => () => agent({ model, ...options } as never);
const declared = (more: object) => () => tool({ ...common, run: () => 1, ...more } as never);

/** Each mistake under its name on the page, with what it says. */
const mistakes: readonly (readonly [name: string, make: () => unknown, message: string])[] = [
	[
		"An option of another library",
		made({ stopWhen: 3 }),
		"Write `maxSteps`, or `strategy: { stopCondition }`.",
	],
	["A misspelt option", made({ sytem: "Be brief." }), "Did you mean `system`?"],
	[
		"A setting of the model among the options",
		made({ temperature: 0 }),
		"belong in `params: { temperature }`.",
	],
	[
		"A model that is only a name",
		made({ model: "gpt-5.2" }),
		'Create it with a provider: `openai("gpt-5.2")`',
	],
	["A provider that was not called", made({ model: openai }), "Call it with a model's id"],
	["No model", () => agent({}).query("Hello"), "Give `model` in its options before it is used."],
	[
		"A provider package that is too old",
		() => agent({ model: { specificationVersion: "v1", modelId: "m" } as never }).query("Hello"),
		"a model of the AI SDK (specification v2, v3 or v4)",
	],
	[
		"A missing `await` before an input",
		() => clerk().send(Promise.resolve("Hello") as never),
		"await it first",
	],
	[
		"A missing `await` before a state",
		() => clerk().ask("Hello", Promise.resolve() as never),
		"Await the earlier call, and pass the `state` of its result.",
	],
	[
		"A missing `await` before tools",
		made({ tools: Promise.resolve([weather]) }),
		"`tools` is a promise. Await it first.",
	],
	["Two tools with the same name", made({ tools: [weather, weather] }), "rename one of them."],
	[
		"A tool without a name",
		made({ tools: [{ ...weather, name: "" }] }),
		"Add `name`, or pass the tools as a record",
	],
	["An agent among the tools", made({ tools: [clerk()] }), "or give the agent in `subagents`."],
	["A function of a tool under another name", declared({ handler: () => 1 }), "Write `run`."],
	[
		"A schema library without JSON Schema output",
		declared({ parameters: valibot.object({ city: valibot.string() }) }),
		"`toStandardJsonSchema(schema)` from @valibot/to-json-schema.",
	],
	[
		"Properties in place of a schema",
		declared({ parameters: { city: "string" } }),
		'Write `{ type: "object", properties: {...} }`.',
	],
	[
		"An `output` that is not a schema",
		made({ output: "json" }),
		"a Standard Schema such as zod's, or JSON Schema.",
	],
	["A middleware that was not called", made({ middleware: [logging] }), "call it: `logging()`."],
	["A host that was not created", made({ host: sqliteHost }), "call it: `sqliteHost(...)`."],
	[
		"A path as host",
		made({ host: "./holdfast.db" }),
		'give `sqliteHost("./holdfast.db")` from "holdfast/sqlite".',
	],
	[
		"A connection string of another database",
		() => postgresHost({ connectionString: "mysql://localhost/db" }),
		"should be an address that begins with postgres://.",
	],
	[
		"A Postgres address in `url`",
		() => postgresHost({ url: "postgres://localhost/db" } as never),
		'Write `connectionString: "postgres://…"`.',
	],
	[
		"A Postgres address as the first argument",
		() => postgresHost("postgres://localhost/db" as never),
		"`postgresHost({ connectionString })`",
	],
	[
		"The parts of a Postgres address",
		() => postgresHost({ host: "localhost", database: "db" } as never),
		"It contains user, password, host, port and database.",
	],
	[
		"A pool that does not come from pg",
		() => postgresHost({ pool: { query: () => [] } } as never),
		"a pool of the package pg: new Pool({ connectionString })",
	],
	["An empty session key", () => clerk().session(""), "takes a non-empty string."],
	["Two executions of a session at once", twice, "Await its result first; session.send() queues instead."],
	["A closed agent", closed, "Create a new one to continue."],
	[
		"A list of messages as input",
		() => clerk().query([{ role: "user", content: "Hello" }] as never),
		"`generate(text, AgentState.initial().withMessages(messages))`",
	],
	[
		"An input in `prompt`",
		() => clerk().query({ prompt: "Hello" } as never),
		"Give the text of `prompt` itself.",
	],
	[
		"The whole conversation sent to a session",
		() =>
			clerk()
				.session("s")
				.send([{ role: "user", content: "Hello" }] as never),
		"Send only the text of the new message",
	],
	[
		"A thread id as the second argument",
		() => clerk().generate("Hello", { threadId: "1" } as never),
		"`const run = await agent.session(key).send(input)`",
	],
	[
		"`agent.run()`",
		() => (clerk() as never as { run(input: string): unknown }).run("Hello"),
		"Write `await agent.query(input)` for a single answer, or `await agent.session(key).send(input)`",
	],
	[
		"`agent.invoke()`",
		() => (clerk() as never as { invoke(input: object): unknown }).invoke({ messages: [] }),
		"Write `await agent.query(input)` for a single answer",
	],
	[
		"Messages given to `agent.generate()`",
		() => clerk().generate({ messages: [{ role: "user", content: "Hello" }] } as never),
		"Give the last message, and the earlier ones as a state",
	],
	[
		"Options as the second argument of `agent.stream()`",
		() => clerk().stream("Hello", { signal: AbortSignal.abort() } as never),
		"Options are the third argument: `stream(input, AgentState.initial(), options)`.",
	],
	[
		"`textStream` of `agent.stream()`",
		() => (clerk().stream("Hello") as never as { textStream: unknown }).textStream,
		"`for await (const event of agent.stream(input))`",
	],
	["An `id` of an agent", made({ id: "clerk", tools: [] }), "write `name`."],
	["A hook before each model call", made({ prepareCall: () => ({}) }), "Write `prepareStep`"],
	["A schema of the state", made({ stateSchema: {} }), "`state.withMetadata(key, value)`"],
	["A context for tools", made({ contextSchema: {} }), "Give the tools what they need when you create them"],
	["Guardrails", made({ inputGuardrails: [] }), "Write a middleware with `before`"],
	["Handoffs", made({ handoffs: [] }), "Write `subagents`."],
	["Settings of the model in `modelSettings`", made({ modelSettings: {} }), "belong in `params`."],
	["A breakpoint before tools", made({ interruptBefore: ["tools"] }), "Set `needsApproval` on the tools"],
	["MCP servers among the options", made({ mcpServers: [] }), "`connectMcp(servers)` of @holdfast/mcp"],
	["Instructions that are not text", made({ instructions: ["Be brief."] }), "must be an object {text,"],
	["A single tool as `tools`", made({ tools: weather }), "`tools: [tool]`"],
	[
		"A function as the first argument of `tool()`",
		() => tool((() => "Sunny.") as never),
		"`tool({ name, description, parameters, run })`",
	],
	[
		"A missing `await` before a host",
		made({ host: Promise.resolve(memoryHost()) }),
		"is a promise. Await it first.",
	],
	["The address of a database as a file", () => sqliteHost("mysql://localhost/db"), "a path, not an address"],
	[
		"An agent given to `execute()`",
		() => execute(clerk() as never, "Hello"),
		"`createSession(id, context, options)` returns.",
	],
	["A port that is in use", occupied, "Choose another port; 0 selects a free one."],
	[
		"A public server without keys",
		() => listen({ agent: { model }, host: memoryHost(), hostname: "0.0.0.0", port: 0 }),
		"Give `apiKeys` or `authenticate`",
	],
	[
		"An address without a scheme",
		() => createClient({ url: "localhost:4280" }),
		'Give "http://localhost:4280".',
	],
	["An agent in place of a server's options", () => listen(clerk() as never), "`listen({ agent, port })`"],
	[
		"An agent given to `createHandler()`",
		() => createHandler({ agent: { model } } as never),
		"`service: sessionService({ agent, host })`",
	],
	[
		"A session service without a host",
		() => sessionService({ agent: { model } } as never),
		"such as the return value of `sqliteHost()` or `memoryHost()`.",
	],
	[
		"A client with `baseURL`",
		() => createClient({ baseURL: "http://localhost:4280" } as never),
		"Write `url`.",
	],
	[
		"A client without options",
		() => createClient("http://localhost:4280" as never),
		'`createClient({ url: "http://localhost:4280" })`',
	],
	[
		"A whole configuration file of MCP servers",
		() => connectMcp({ mcpServers: { files: { command: "files" } } } as never),
		"`connectMcp(file.mcpServers)`",
	],
	["A list of MCP servers", () => connectMcp([{ command: "files" }] as never), "a record of servers by name"],
	[
		"An agent made with `agent()` in a project",
		inProject("agents/a.ts", "{ tools: [] }"),
		"in `sideA` lists its tools",
	],
	["A tool made with `tool()` in a project", inProject("tools/t.ts", "{ parameters: {} }"), "write `args`"],
	["A file of a project without a default export", inProject("agents/a.ts"), "Export an agent by default."],
	["A folder that is not a project", () => loadProject("/nowhere"), "which contains a project's files"],
	[
		"A sub-agent without a name",
		made({ subagents: [clerk()] }),
		"needs one, for the tool that gives it work.",
	],
];

/** Loads a project with one file, which exports a value by default. */
function inProject(path: string, value?: string): () => Promise<unknown> {
	return () => {
		const folder = temporaryFolder();
		mkdirSync(dirname(join(folder, "agents", path)), { recursive: true });
		writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
		const code = value === undefined ? "export const nothing = 1;" : `export default ${value};`;
		writeFileSync(join(folder, "agents", path), code);
		return loadProject(folder);
	};
}

async function twice(): Promise<void> {
	const session = createSession("s", {}, { model });
	const both = [execute(session, "One."), execute(session, "Two.")];
	await Promise.all(both.map((each) => each.result()));
}

async function closed(): Promise<void> {
	const own = clerk();
	await own.close();
	await own.session("s").send("Hello");
}

async function occupied(): Promise<void> {
	const other = createServer();
	await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
	const { port } = other.address() as AddressInfo;
	await listen({ agent: { model }, host: memoryHost(), port }).finally(() => other.close());
}

test.each(mistakes)("%s: the message says what to change", async (_, make, message) => {
	const error = await Promise.resolve()
		.then(make)
		.catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({ message: expect.stringContaining(message) });
	expect(isHoldfastError(error)).toBe(true);
});

test("the page lists each of them, and nothing else", () => {
	const page = readFileSync(join(import.meta.dirname, "../../docs/guide/common-mistakes.md"), "utf8");
	const rows = [...page.matchAll(/^\| (?!you|---)(?<name>[^|]+?) \|/gm)].map(({ groups }) => groups?.name);
	expect(rows).toEqual(mistakes.map(([name]) => name));
});

// What people get wrong first. Each mistake has a message that says what to change, and a line on the page "Common mistakes".
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openai } from "@ai-sdk/openai";
import { createClient } from "@holdfast/client";
import { postgresHost } from "@holdfast/postgres";
import { listen } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { loadProject } from "@holdfast/threads";
import { agent, createSession, execute, isHoldfastError, memoryHost, tool } from "holdfast";
import { logging } from "holdfast/middleware";
import { sqliteHost } from "holdfast/sqlite";
import * as valibot from "valibot";
import { expect, test } from "vitest";

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
	["A model that is only a name", made({ model: "gpt-5.2" }), 'Ask a provider for it: `openai("gpt-5.2")`'],
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
		"Await the earlier call, and give the `state` of its result.",
	],
	[
		"A missing `await` before tools",
		made({ tools: Promise.resolve([weather]) }),
		"`tools` is a promise. Await it first.",
	],
	["Two tools of one name", made({ tools: [weather, weather] }), "rename one of them."],
	[
		"A tool without a name",
		made({ tools: [{ ...weather, name: "" }] }),
		"Add `name`, or give the tools as a record",
	],
	["An agent among the tools", made({ tools: [clerk()] }), "or give the agent in `subagents`."],
	["A function of a tool under another name", declared({ handler: () => 1 }), "Write `run`."],
	[
		"A schema library that writes no JSON Schema",
		declared({ parameters: valibot.object({ city: valibot.string() }) }),
		"`toStandardJsonSchema(schema)` from @valibot/to-json-schema.",
	],
	[
		"Properties in place of a schema",
		declared({ parameters: { city: "string" } }),
		'Write `{ type: "object", properties: {…} }`.',
	],
	[
		"An `output` that is no schema",
		made({ output: "json" }),
		"a Standard Schema such as zod's, or JSON Schema.",
	],
	["A middleware that was not called", made({ middleware: [logging] }), "call it: `logging()`."],
	["A host that was not made", made({ host: sqliteHost }), "call it: `sqliteHost(…)`."],
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
	["An empty session key", () => clerk().session(""), "takes a non-empty string."],
	["Two executions of a session at once", twice, "Await its result first; session.send() queues instead."],
	["A closed agent", closed, "Create a new one to continue."],
	["A port that is in use", occupied, "Choose another port; 0 takes a free one."],
	[
		"A server for everybody without keys",
		() => listen({ agent: { model }, host: memoryHost(), hostname: "0.0.0.0", port: 0 }),
		"Give `apiKeys` or `authenticate`",
	],
	[
		"An address without a scheme",
		() => createClient({ url: "localhost:4280" }),
		'Give "http://localhost:4280".',
	],
	["A folder that is no project", () => loadProject("/nowhere"), "where a project has its files."],
	[
		"A sub-agent without a name",
		made({ subagents: [clerk()] }),
		"needs one, for the tool that gives it work.",
	],
];

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

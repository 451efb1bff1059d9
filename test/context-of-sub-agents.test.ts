// What plugins store for a sub-agent outlives its process: stored results and loaded skills, in every way of working below
// another agent, on each durable host.
import { join } from "node:path";
import { largeResults, skills } from "@holdfast/context";
import { postgresHost } from "@holdfast/postgres";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent, createSubAgentTool, type Host, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const log = Array.from({ length: 2_000 }, (_, at) => `line ${at + 1} of the log`).join("\n");
const parameters = { type: "object", properties: {} } as const;
const readLog = tool({ name: "read_log", description: "Reads the log.", parameters, run: () => log });
const erase = tool({ name: "erase", description: "Erases the disk.", parameters, run: () => "erased" });
const text = "---\nname: inspect\ndescription: Inspects logs.\nallowed-tools: read_log\n---\nRead the log.\n";
const ask = (id: string, name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ id, name, arguments: args as never }],
});

/** A clerk that stores a result and loads a skill, and whose process ends at `left`; the next one uses both. */
function clerkOf(stage: "stores" | "reads", left: () => void) {
	const never = (): ScriptedReply => {
		left();
		return { gate: new Promise(() => {}), text: "never" };
	};
	const script = {
		stores: [ask("s1", "load_skill", { name: "inspect" }), ask("s2", "read_log")],
		reads: [ask("s3", "read_result", { id: "s2", startLine: 2_000 }), ask("s4", "erase"), "Read."],
	}[stage];
	const model = scriptedModel((_, call) => script[call] ?? never());
	const plugins = [largeResults({ limit: 2_000 }), skills({ sources: [{ text }] })];
	const about = { name: "clerk", description: "Knows the log." };
	return { model, clerk: new Agent({ ...about, model, tools: [readLog, erase], plugins }) };
}

const task = { type: "object", properties: { task: { type: "string" } } };
const asTool = (agent: Agent, policy: "own" | "caller") =>
	createSubAgentTool({ agent, name: "clerk", description: "Asks the clerk.", parameters: task, policy });

/** Makes one call, and then answers. */
const once = (name: string, args: object) =>
	scriptedModel(({ messages }) => (messages.some(isToolResultMessage) ? "Done." : ask("c1", name, args)));

/** Agents that give work to the clerk. */
const ways: Readonly<Record<string, (clerk: Agent, host: Host) => Agent>> = {
	"a delegated task": (clerk, host) =>
		new Agent({ host, model: once("delegate_to_clerk", { prompt: "Tell." }), subagents: [clerk] }),
	"a background task": (clerk, host) => {
		const model = once("delegate_to_clerk", { prompt: "Tell.", run_in_background: true });
		return new Agent({ host, model, subagents: [clerk] });
	},
	"a sub-agent tool": (clerk, host) =>
		new Agent({ host, model: once("clerk", { task: "Tell." }), tools: [asTool(clerk, "own")] }),
	"a sub-agent tool under its caller's policy": (clerk, host) => {
		const tools = [asTool(clerk, "caller")];
		return new Agent({ host, model: once("clerk", { task: "Tell." }), tools, plugins: [largeResults()] });
	},
	"a sub-agent of a sub-agent": (clerk, host) => {
		const model = once("delegate_to_clerk", { prompt: "Tell." });
		const desk = new Agent({ name: "desk", description: "Asks.", model, subagents: [clerk] });
		return new Agent({ host, model: once("delegate_to_desk", { prompt: "Ask." }), subagents: [desk] });
	},
	"a script of code mode": (clerk, host) => {
		const code = 'return await tools.clerk({ task: "Tell." });';
		const tools = [codeMode({ tools: [asTool(clerk, "own")] })];
		return new Agent({ host, model: once("run_code", { code }), tools });
	},
	"a workflow": (clerk, host) =>
		workflow({ name: "desk", host, subagents: [clerk] }, (flow) => flow.agent(clerk, "Tell.")).agent,
};

let server: Promise<PostgresServer> | undefined;
afterAll(async () => (await server)?.stop());

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

describe.each(["SQLite", "Postgres"] as const)("on %s", (kind) => {
	test.each(Object.keys(ways))("%s reads what its process stored before it ended", async (way) => {
		const open = await storeOf(kind);
		const make = ways[way] as (typeof ways)[string];
		const first = open();
		const stored = Promise.withResolvers<void>();
		const before = make(clerkOf("stores", stored.resolve).clerk, first);
		const run = await before.session("ann").send(way === "a workflow" ? "{}" : "go");
		run.detach();
		await stored.promise;
		await before.close();
		await first.close();

		const second = open();
		const { clerk, model } = clerkOf("reads", () => {});
		const agent = make(clerk, second);
		for await (const run of agent.work({ until: "done" })) await run.result();
		const messages = model.requests.at(-1)?.messages ?? [];
		const results = messages.filter(isToolResultMessage).flatMap((message) => message.results);
		expect(results.slice(-2).map(({ result }) => result)).toEqual([
			expect.stringContaining("\nline 2000 of the log"),
			expect.stringContaining('do not allow this call of "erase"'),
		]);
		await agent.close();
		await second.close();
	});
});

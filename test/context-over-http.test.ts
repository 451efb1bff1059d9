// Searched tools, skills and large results together, over HTTP, with an approval that is given after a restart.
import { join } from "node:path";
import { createClient } from "@holdfast/client";
import { largeResults, searchable, skills } from "@holdfast/context";
import { listen } from "@holdfast/server";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const log = Array.from({ length: 2_000 }, (_, at) => `line-${at + 1} of the log`).join("\n");
const parameters = { type: "object", properties: {} } as const;
const readLog = tool({
	name: "read_log",
	description: "Reads the log.",
	parameters,
	needsApproval: true,
	run: () => log,
});
const peek = tool({ name: "peek", description: "Returns the old log.", parameters, run: () => log });
const erase = tool({ name: "erase", description: "Erases the disk.", parameters, run: () => "erased" });
const text =
	"---\nname: inspect\ndescription: Inspects logs.\nallowed-tools: read_log peek\n---\nRead the log.\n";

const ask = (id: string, name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ id, name, arguments: args as never }],
});

async function serve(path: string, script: readonly (string | ScriptedReply)[]) {
	const model = scriptedModel(script);
	const host = sqliteHost(path);
	const plugins = [largeResults({ limit: 2_000 }), skills({ sources: [{ text }] })];
	const server = await listen({
		agent: { model, tools: searchable([readLog, peek, erase], { always: ["peek"] }), plugins },
		host,
		port: 0,
	});
	const close = async () => {
		await server.close();
		await host.close();
	};
	return { model, url: server.url, close };
}

test("a new process continues with the loaded tools, the skill's limit and the stored result", async () => {
	const path = join(temporaryFolder(), "sessions.db");
	const first = await serve(path, [
		ask("c1", "search_tools", { query: "read the log" }),
		ask("c2", "load_skill", { name: "inspect" }),
		ask("c0", "peek"),
		ask("c3", "read_log"),
	]);
	const response = await fetch(`${first.url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ input: "What went wrong?" }),
	});
	expect(await response.text()).toContain('"status":"awaiting_tool_execution"');
	await first.close();

	const next = await serve(path, [
		ask("c4", "read_result", { id: "c0", search: "line-1999" }),
		ask("c5", "erase"),
		"done",
	]);
	await createClient({ url: next.url }).approve(response.headers.get("x-session-id") ?? "", "c3");
	await expect.poll(() => next.model.requests.length).toBe(3);
	const { messages = [], tools = [] } = next.model.requests[2] ?? {};
	expect(tools.map(({ name }) => name).at(-1)).toBe("read_log");
	const results = messages.filter(isToolResultMessage).flatMap((message) => message.results);
	expect(results.slice(2).map(({ result }) => result)).toEqual([
		expect.stringContaining('read_result and the id "c0"'),
		expect.stringContaining('read_result and the id "c3"'),
		expect.stringContaining("line 1999, character"),
		expect.stringContaining('do not allow this call of "erase"'),
	]);
	await next.close();
});

// Values of a thread, as everything that has the thread sees them.
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { defineHook, defineThreadEndpoint, defineTool } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import type { ToolDefinition } from "../types/index.ts";
import { served } from "./endpoints.fixture.ts";

test("values that a tool stores are available to hooks and endpoints, in later executions and after a restart [SA-097]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const seen: unknown[] = [];
	const count = defineTool({
		description: "Counts.",
		execute: async (state) => {
			const next = ((await state.getValue<number>("count")) ?? 0) + 1;
			await state.setValue("count", next);
			return { status: "success", result: String(next) };
		},
	}) as unknown as ToolDefinition;
	const look = defineHook({
		hook: "after_system_message",
		id: "look",
		execute: async (state) => {
			seen.push(await state.getValue("count"));
			return undefined;
		},
	});
	const value = defineThreadEndpoint(async (_, state) => Response.json(await state.getValue("count")));
	const provider = scripted(({ messages }) =>
		messages.at(-1)?.role === "tool" ? "Counted." : { calls: [{ name: "count" }] },
	);
	const project = oneAgent(provider, {
		tools: { count },
		hooks: [look],
		prompt: { hooks: ["look"] },
		endpoints: { value },
	});
	let id = "";
	for (const [before, after] of [
		[null, 1],
		[1, 2],
		[2, 3],
	] as const) {
		const host = sqliteHost(path);
		onTestFinished(() => host.close());
		const { ask, thread, threads } = served(project, { host });
		if (id === "") id = await thread();
		expect((await ask("GET", `/api/threads/${id}/value`)).body).toBe(before);
		await threads.queueMessage(id, { content: "Count" });
		await threads.quiet();
		expect((await ask("GET", `/api/threads/${id}/value`)).body).toBe(after);
		expect(seen.splice(0)).toEqual([before, after]);
		await threads.close();
	}
});

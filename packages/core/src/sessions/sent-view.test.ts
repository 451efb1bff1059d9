import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { cacheReportOf } from "../facts/cache-report.ts";
import { compaction } from "../policy/plugins/compaction.ts";
import { sqliteHost } from "../sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-view-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("another process that shows the model the same summary continues the previous request", async () => {
	const look = {
		name: "look",
		description: "Looks.",
		parameters: { type: "object" as const, properties: { b: {}, a: {} } },
		run: () => ({ zebra: 1, apple: [1, 2, { deep: "x".repeat(40) }] }),
	};
	const model = scriptedModel((_, number) =>
		number % 3 === 0
			? { text: "I look.", toolCalls: [{ name: "look", arguments: { b: number, a: "x" } }] }
			: `Answer ${number}.`,
	);
	const summarise = (): string => "They looked around.";
	for (let turn = 0; turn < 7; turn++) {
		const host = sqliteHost(join(folder, "agents.db"));
		// A new host and agent read the history and the summary from the file.
		const plugins = [compaction({ maxTokens: 600, keepRecent: 4, prepareAt: 1, summarise })];
		const agent = new Agent({ model, tools: [look], host, plugins });
		await (await agent.session("s").send(`Question ${turn}?`)).result();
		if (turn === 6) {
			const entries = await host.journal.read("s");
			const views = entries.filter(({ fact }) => fact.kind === "assistant" && fact.view !== undefined);
			expect(views.length).toBeGreaterThan(3);
			const breaks = cacheReportOf(entries).calls.filter(({ cacheBreak }) => cacheBreak !== undefined);
			expect(breaks.map(({ cacheBreak }) => cacheBreak?.reasons)).toEqual([["view"]]);
		}
		await agent.close();
		await host.close();
	}
});

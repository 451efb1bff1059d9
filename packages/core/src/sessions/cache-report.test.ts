import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { type CacheReport, cacheReportOf } from "../facts/cache-report.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";

const look = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" as const },
	run: () => "seen",
};
const calling = { toolCalls: [{ name: "look" }] };

test("a run's result and its journal show the cached tokens of each call and each break", async () => {
	const journal = memoryJournal();
	const model = scriptedModel([calling, "one", calling, "two"], { promptCache: "breakpoints" });
	const of = (instructions: string) =>
		new Agent({ model, host: journalHost(journal), instructions, tools: [look] }).session("s");
	const first = (await (await of("Be brief. ".repeat(50)).send("Go.")).result()).cacheReport as CacheReport;
	const run = await of("Be long. ".repeat(50)).send("Go on.");
	const breaks: unknown[] = [];
	for await (const event of run.watch())
		if (event.type === "message" && event.cacheBreak !== undefined) breaks.push(event.cacheBreak);
	const result = await run.result();
	const second = result.cacheReport as CacheReport;

	expect(first.calls.map(({ step, cachedTokens }) => [step, cachedTokens > 0])).toEqual([
		[1, false],
		[2, true],
	]);
	const cacheBreak = { reasons: ["instructions"], from: 0 };
	expect(second.calls.map((call) => call.cacheBreak)).toEqual([cacheBreak, undefined]);
	expect(breaks).toEqual([cacheBreak]);
	for (const { inputTokens, cachedTokens, uncachedTokens, cachedShare } of [first, second]) {
		expect(cachedTokens + uncachedTokens).toBe(inputTokens);
		expect(cachedShare).toBe(cachedTokens / inputTokens);
	}
	const whole = cacheReportOf(await journal.read("s"));
	expect(whole.calls).toEqual([...first.calls, ...second.calls]);
	expect(JSON.stringify(result)).not.toContain("cacheReport");
});

test("a run without an answer has an empty report", async () => {
	const model = scriptedModel([{ error: new Error("down") }]);
	const { cacheReport } = await (await new Agent({ model }).session("s").send("Go.")).result();
	expect(cacheReport).toEqual({
		inputTokens: 0,
		cachedTokens: 0,
		uncachedTokens: 0,
		writtenTokens: 0,
		cachedShare: 0,
		calls: [],
	});
});

/** The command `eval`: metrics of scenarios, and regressions. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run } from "./spawn.fixture.ts";

let folder: string;
beforeEach(() => {
	folder = temporaryFolder();
});

/** Returns scenarios whose runs take this many steps; writing them requires no package. */
function scenarios(steps: number, success = true): void {
	const result = `{ success: ${success}, result: "done", steps: ${steps}, actions: [], tokenUsage: { totalTokens: 5 } }`;
	writeFileSync(
		join(folder, "cases.mjs"),
		`const agent = { runOnce: async () => (${result}) };
const right = { name: "right", score: ({ output }) => output === "done" };
export default [{ name: "first", agent, scorers: [right] }, { name: "second", agent: () => "x" }];
`,
	);
}

describe("eval", () => {
	test("runs each scenario the given number of times and prints a table, or JSON [RUN-154]", async () => {
		scenarios(4);
		const { code, stdout, stderr } = await run(
			["eval", "cases.mjs", "--repetitions", "3", "--concurrency", "2"],
			{ folder },
		);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^scenario +runs +success +steps/);
		expect(stdout).toMatch(/^first +3 +100 % +4 .* 0 +5 +right 1\.00$/m);
		expect(stderr.trim().split("\n")).toHaveLength(6);
		const json = await run(["eval", "cases.mjs", "--json"], { folder });
		expect(JSON.parse(json.stdout).scenarios[0]).toMatchObject({
			name: "first",
			successRate: 1,
			meanSteps: 4,
			p50: expect.any(Number),
			p95: expect.any(Number),
			toolErrors: 0,
			tokens: 5,
		});
	});

	test("against a baseline exits with 1 and names scenario and figure if something got worse [RUN-155]", async () => {
		scenarios(4);
		const saved = await run(["eval", "cases.mjs", "--save", "base.json"], { folder });
		expect(saved.code).toBe(0);
		const report = JSON.parse(readFileSync(join(folder, "base.json"), "utf8"));
		// Times are those of this machine at this moment: they are no part of this test.
		for (const scenario of report.scenarios) Object.assign(scenario, { p50: 1e9, p95: 1e9 });
		writeFileSync(join(folder, "base.json"), JSON.stringify(report));
		expect((await run(["eval", "cases.mjs", "--baseline", "base.json"], { folder })).code).toBe(0);
		scenarios(6);
		const worse = await run(["eval", "cases.mjs", "--baseline", "base.json"], { folder });
		expect([worse.code, worse.stdout]).toEqual([
			1,
			expect.stringContaining("worse: first meanSteps: 4 before, 6 now"),
		]);
		const tolerant = await run(["eval", "cases.mjs", "--baseline", "base.json", "--tolerance", "0.5"], {
			folder,
		});
		expect(tolerant.code).toBe(0);
	});

	test("exits with 1 if a scenario never succeeds", async () => {
		scenarios(4, false);
		const { code, stderr } = await run(["eval", "cases.mjs"], { folder });
		expect([code, stderr]).toEqual([1, expect.stringContaining("first  failed")]);
	});

	test.for([
		[["eval"], /takes one file/],
		[["eval", "nowhere.mjs"], /The file .* does not exist/],
		[["eval", "other.mjs"], /exports no scenarios/],
		[["eval", "cases.mjs", "--repetitions", "0"], /--repetitions takes a whole number/],
		[["eval", "cases.mjs", "--tolerance", "much"], /--tolerance takes a number/],
		[["eval", "cases.mjs", "--baseline", "nowhere.json"], /cannot be read/],
	] as const)("describes the problem in one line: %o", async ([argv, said]) => {
		scenarios(1);
		writeFileSync(join(folder, "other.mjs"), "export default 5;");
		const { code, stderr } = await run(argv, { folder });
		expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
	});
});

// Hostile folders, pages and models cannot make the tools slow.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { readGlob } from "./glob.ts";
import { htmlText } from "./html-text.ts";
import { type IgnoreFile, isIgnored, readIgnoreFile } from "./ignore-rules.ts";
import { createAssistantTools } from "./index.ts";

/** Milliseconds of the quickest of three, so that a busy machine is not mistaken for a slow library. */
function quickest(work: () => unknown): number {
	const times = [1, 2, 3].map(() => {
		// Time of this process: others on the machine have no part in it.
		const started = process.cpuUsage();
		work();
		const { user, system } = process.cpuUsage(started);
		return (user + system) / 1_000;
	});
	return Math.min(...times);
}

const names = [
	"a".repeat(10_000),
	`${"a".repeat(5_000)}b${"a".repeat(4_999)}`,
	`${"ab".repeat(5_000)}x`,
	`${"a".repeat(250)}/`.repeat(40),
];
const patterns = [
	`${"*a".repeat(30)}b`,
	"*a*a*a*a*b",
	`${"*ab".repeat(30)}c`,
	`${"?*".repeat(30)}c`,
	`${"[ab]*".repeat(30)}c`,
	`${"**/*a/".repeat(30)}b`,
	`${"**a".repeat(30)}c`,
];

describe("a glob", () => {
	test.each(patterns)("%s is matched against very long names within 50 ms", (pattern) => {
		for (const name of names) expect(quickest(() => readGlob(pattern)(name))).toBeLessThan(50);
	});

	test("with too many alternatives, or that is very long, is rejected", () => {
		expect(() => readGlob("{a,b}".repeat(25))).toThrow(/expands to more than 100 globs/);
		expect(() => readGlob("{*a,*b}".repeat(8))).toThrow(/expands to more than 100 globs/);
		expect(() => readGlob("a".repeat(2_000))).toThrow(/can have at most 1000 characters/);
	});

	test.each([
		["*.{js,ts}", "src/deep/a.ts", true],
		["*.{js,ts}", "src/deep/a.md", false],
		["src/*.ts", "src/a.ts", true],
		["src/*.ts", "src/deep/a.ts", false],
		["src/**/*.ts", "src/a.ts", true],
		["src/**", "src/deep/a.ts", true],
		["./src/a.ts", "src/a.ts", true],
		["*", ".gitignore", true],
		["!*.md", "a.ts", false],
		["#a", "#a", true],
		["[a-c]?.txt", "b1.txt", true],
	])("%s matches %s: %s", (glob, path, expected) => {
		expect(readGlob(glob)(path)).toBe(expected);
	});
});

describe("a rule of a .gitignore file", () => {
	test.each(patterns)("%s is matched against very long names within 50 ms", (pattern) => {
		for (const name of names) {
			const files: IgnoreFile[] = [readIgnoreFile("", pattern)];
			expect(quickest(() => isIgnored(files, name, "file"))).toBeLessThan(50);
		}
	});

	test("that would cost too much or cannot be read is ignored, and the others apply", () => {
		const rules = [`${"**/a/".repeat(4)}b`, "x".repeat(2_000), "*.log"];
		const file = readIgnoreFile("", rules.join("\n"));
		expect(file.leftOut).toBe(2);
		expect(isIgnored([file], "a.log", "file")).toBe(true);
		expect(readIgnoreFile("", "a\n".repeat(10_000)).leftOut).toBe(8_000);
	});

	test("never makes the walk fail, for any content", () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom(..."ab*?[]!\\/{}()+^$. -") }), (rule) => {
				isIgnored([readIgnoreFile("", rule)], "a/b.log", "file");
			}),
			{ numRuns: 2_000 },
		);
	});

	test.each([
		["", "out/", "out", "directory", true],
		["", "out/", "out", "file", false],
		["", "/a", "b/a", "file", false],
		["", "*.LOG", "a.log", "file", false],
		["src", "/a", "src/a", "file", true],
	] as const)("in %j, %s applies to the %3$s %2$s: %4$s", (base, rule, path, kind, expected) => {
		expect(isIgnored([readIgnoreFile(base, rule)], path, kind)).toBe(expected);
	});

	test("of a deeper folder takes precedence over those above it", () => {
		const files = [readIgnoreFile("", "*.log"), readIgnoreFile("src", "!keep.log")];
		expect(isIgnored(files, "src/keep.log", "file")).toBe(false);
		expect(isIgnored(files, "src/other.log", "file")).toBe(true);
	});
});

test("a walk reports what it omits: rules, and folders that are very deep", async () => {
	const root = temporaryFolder();
	mkdirSync(join(root, ...Array.from({ length: 120 }, () => "d")), { recursive: true });
	writeFileSync(join(root, ".gitignore"), `${"**/a/".repeat(4)}b\n`);
	writeFileSync(join(root, ...Array.from({ length: 120 }, () => "d"), "deep.txt"), "horn");
	const answers = createAssistantTools({ root })
		.filter(({ name }) => name !== "read_file")
		.map((tool) => tool.run({ pattern: "horn" }));
	for (const answer of await Promise.all(answers)) {
		expect(answer).toContain("very large or deep");
		expect(answer).toContain("1 line of .gitignore not used");
		expect(answer).not.toContain("deep.txt");
	}
});

describe("the text of a page", () => {
	test.each([
		["open tags that never end", "<p ".repeat(40_000)],
		["elements within each other", "<div>".repeat(40_000)],
		["closing tags without an opening one", `${"<x>".repeat(20_000)}${"</y>".repeat(20_000)}`],
		["comments that never end", "<!--".repeat(40_000)],
		["entities that never end", "&#".repeat(40_000)],
		["scripts that never end", "<script>".repeat(40_000)],
		["angle brackets", "<".repeat(40_000)],
		["blank lines", "\n \t\u00a0".repeat(40_000)],
	])("with 40,000 %s takes at most 100 ms", (_what, html) => {
		expect(quickest(() => htmlText(html))).toBeLessThanOrEqual(100);
	});

	test("contains the readable text, in lines, and nothing of scripts and drawings", () => {
		const html = `<!doctype html><head><title>Fog</title><style>p{}</style></head><body>
			<script>if (a < b) "</p>"</script><svg><text>no</text></svg><noscript>no</noscript><svg/>
			<h1>Fog &amp; <b>ra</b>in &#8211; &copy;</h1><ul><li>one<li>two</ul>
			<table><tr><td>a</td><td>b</td></tr></table>1 < 2<br>end`;
		expect(htmlText(html)).toBe("Fog\n\nFog & rain – ©\n\none\ntwo\n\na b\n\n1 < 2\nend");
	});
});

// What the generated page of requirements counts as a proof, and what it does not.
import { expect, test } from "vitest";
import { parseRequirements, renderRequirements, unknownIds, unprovenIds } from "../tools/requirements.ts";
import { readNamedTests } from "../tools/test-titles.ts";

// Written in two pieces so that the page does not take these for tests of this repository.
const one = `UAP${"-001"}`;
const two = `SES${"-002"}`;
const titles = (source: string): readonly string[] =>
	readNamedTests("a.test.ts", source).map(({ title }) => title);

test("a title of a test counts for every requirement it names", () => {
	const found = readNamedTests("a.test.ts", `test("holds [${one}] [${two}]", () => {});`);
	expect(found).toEqual([{ file: "a.test.ts", title: `holds [${one}] [${two}]`, ids: [one, two] }]);
});

test("titles count on separate lines, in templates, in tables of cases and as names of cases", () => {
	expect(titles(`test(\n\t"long [${one}]",\n\tasync () => {},\n);`)).toEqual([`long [${one}]`]);
	expect(titles(`it.concurrent(\`in \${place} [${one}]\`, () => {});`)).toEqual([`in \${place} [${one}]`]);
	expect(titles(`test.each([1, (2)])("each %s [${one}]", () => {});`)).toEqual([`each %s [${one}]`]);
	expect(titles(`test.each([\n\t["row [${one}]", 1],\n\t[2],\n])("%s", () => {});`)).toEqual([
		`row [${one}]`,
	]);
	expect(titles(`const cases = [{ name: "case [${one}]", run }];`)).toEqual([`case [${one}]`]);
});

test("describe titles, skipped tests, comments and other strings do not count", () => {
	const source = [
		`describe("all of [${one}]", () => {`,
		`test.skip("later [${one}]", () => {});`,
		`// test("once [${one}]", () => {});`,
		`const note = "see [${one}]";`,
	];
	expect(titles(source.join("\n"))).toEqual([]);
});

test("the page shows a line with its tests, a line without any, and the counts", () => {
	const lines = parseRequirements(`${one}\t1.1\tIt | works.\n${two}\t2\tIt lasts.\n`);
	const page = renderRequirements(lines, [{ file: "a.test.ts", title: `works [${one}]`, ids: [one] }]);
	expect(page).toContain(`| ${one} | 1.1 | It \\| works. | [a.test.ts](../a.test.ts): works |`);
	expect(page).toContain(`| ${two} | 2 | It lasts. | – |`);
	expect(page).toContain("| | all | 2 | 1 |");
});

test("an unknown ID is reported with its file", () => {
	const lines = parseRequirements(`${one}\t1.1\tIt works.\n`);
	expect(unknownIds(lines, [{ file: "a.test.ts", title: "", ids: [one, two] }])).toEqual([
		`${two} in a.test.ts`,
	]);
});

test("a line is proven if a test that names it passed in any of the reports", () => {
	const lines = parseRequirements(`${one}\t1.1\tIt works.\n${two}\t2\tIt lasts.\n`);
	const report = (id: string, status: string) => {
		const title = `holds [${id}]`;
		const assertionResults = [{ title, fullName: `all of it ${title}`, status, failureMessages: [] }];
		return {
			success: true,
			numPassedTests: 1,
			numFailedTests: 0,
			testResults: [{ name: "a.test.ts", status, message: "", assertionResults }],
		};
	};
	expect(unprovenIds(lines, [report(one, "passed"), report(two, "passed")])).toEqual([]);
	expect(unprovenIds(lines, [report(one, "passed"), report(two, "skipped")])).toEqual([two]);
	expect(unprovenIds(lines, [report(one, "failed")])).toEqual([one, two]);
});

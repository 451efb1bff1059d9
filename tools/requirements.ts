// Writes docs/requirements.md: every requirement line with the tests that name it, those of the longer run too. `--check`
// writes nothing and fails when the page is stale. `--reports` and files of vitest judge by what ran: they fail when no test
// that passed in any of them names a line.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Report, readReport } from "./count-results.ts";
import { findNamedTests, idsOf, type NamedTest } from "./test-titles.ts";

/** One line of docs/requirements.tsv. */
export interface Requirement {
	readonly id: string;
	readonly section: string;
	readonly text: string;
}

const documents: ReadonlyMap<string, string> = new Map([
	["UAP", "Pure agents (UAP 1.0)"],
	["SA", "Projects of files (Standard Agents)"],
	["API", "Events, remote tools, HTTP (Agent API)"],
	["RUN", "Plan, act, reflect (Agent Runtime)"],
	["SES", "Keyed sessions"],
]);

/** Reads the tab-separated lines: ID, section, text. */
export function parseRequirements(lines: string): readonly Requirement[] {
	return lines
		.split("\n")
		.filter((line) => line.trim() !== "")
		.map((line) => {
			const [id = "", section = "", text = ""] = line.split("\t");
			return { id, section, text };
		});
}

/** IDs that tests name and no requirement line carries. */
export function unknownIds(
	requirements: readonly Requirement[],
	tests: readonly NamedTest[],
): readonly string[] {
	const known = new Set(requirements.map(({ id }) => id));
	const named = tests.flatMap(({ ids, file }) => ids.map((id) => ({ id, file })));
	return named.filter(({ id }) => !known.has(id)).map(({ id, file }) => `${id} in ${file}`);
}

/** IDs of the lines that no test names which passed in any of the reports. */
export function unprovenIds(
	requirements: readonly Requirement[],
	reports: readonly Report[],
): readonly string[] {
	const tests = reports
		.flatMap(({ testResults = [] }) => testResults)
		.flatMap((file) => file.assertionResults);
	const proven = new Set(
		tests.filter(({ status }) => status === "passed").flatMap(({ title = "" }) => idsOf(title)),
	);
	return requirements.map(({ id }) => id).filter((id) => !proven.has(id));
}

/** The page as Markdown. */
export function renderRequirements(
	requirements: readonly Requirement[],
	tests: readonly NamedTest[],
): string {
	const proofs = new Map<string, NamedTest[]>();
	for (const test of tests) {
		for (const id of new Set(test.ids)) proofs.set(id, [...(proofs.get(id) ?? []), test]);
	}
	const families = [...new Set(requirements.map(({ id }) => family(id)))].map((name) => {
		const lines = requirements.filter(({ id }) => family(id) === name);
		return { name, lines, proven: lines.filter(({ id }) => proofs.has(id)).length };
	});
	const proven = families.reduce((sum, each) => sum + each.proven, 0);
	return [
		"# Requirements",
		"",
		"Every requirement line and the tests that name it in their title. Written by `npm run requirements` from",
		"[requirements.tsv](requirements.tsv) and the titles of the tests; `npm run check` fails when it is stale.",
		"A line without a test is not yet proven, even if the feature exists.",
		"",
		"| | document | lines | named by a test |",
		"|---|---|---:|---:|",
		...families.map(({ name, lines, proven }) => {
			const title = documents.get(name) ?? name;
			return `| [${name}](#${anchor(`${name}: ${title}`)}) | ${title} | ${lines.length} | ${proven} |`;
		}),
		`| | all | ${requirements.length} | ${proven} |`,
		...families.flatMap(({ name, lines }) => [
			"",
			`## ${name}: ${documents.get(name) ?? name}`,
			"",
			"| ID | section | requirement | tests |",
			"|---|---|---|---|",
			...lines.map((line) => {
				const cells = [line.id, line.section, line.text].map(cell).join(" | ");
				return `| ${cells} | ${proofCell(proofs.get(line.id))} |`;
			}),
		]),
		"",
	].join("\n");
}

function family(id: string): string {
	return id.split("-")[0] ?? id;
}

function anchor(heading: string): string {
	return heading
		.toLowerCase()
		.replaceAll(/[^\w\- ]/g, "")
		.replaceAll(" ", "-");
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll(/\s+/g, " ");
}

function proofCell(tests: readonly NamedTest[] | undefined): string {
	if (tests === undefined) return "–";
	const byFile = Map.groupBy(tests, ({ file }) => file);
	const parts = [...byFile].map(([file, inFile]) => {
		const titles = inFile.map(({ title }) => cell(title.replaceAll(/\s*\[[^\]]*-\d{3}[^\]]*\]/g, "")));
		return `[${file}](../${file}): ${titles.join("; ")}`;
	});
	return parts.join("<br>");
}

function judge(requirements: readonly Requirement[], reports: readonly Report[]): void {
	const unproven = unprovenIds(requirements, reports);
	console.log(
		`${requirements.length - unproven.length} of ${requirements.length} lines are named by a test that passed.`,
	);
	if (unproven.length === 0) return;
	console.error(`No test that passed names ${unproven.join(", ")}.`);
	process.exitCode = 1;
}

function main(): void {
	const root = `${import.meta.dirname}/..`;
	const page = `${root}/docs/requirements.md`;
	const requirements = parseRequirements(readFileSync(`${root}/docs/requirements.tsv`, "utf8"));
	const reports = process.argv.indexOf("--reports");
	if (reports > 0) {
		judge(requirements, process.argv.slice(reports + 1).map(readReport));
		return;
	}
	const tests = findNamedTests(root);
	const unknown = unknownIds(requirements, tests);
	if (unknown.length > 0) {
		console.error(`Tests name requirements that do not exist:\n  ${unknown.join("\n  ")}`);
		process.exitCode = 1;
		return;
	}
	const rendered = renderRequirements(requirements, tests);
	if (!process.argv.includes("--check")) {
		writeFileSync(page, rendered);
		return;
	}
	if (existsSync(page) && readFileSync(page, "utf8") === rendered) return;
	console.error("docs/requirements.md is stale: run `npm run requirements` and commit the page.");
	process.exitCode = 1;
}

if (import.meta.main) main();

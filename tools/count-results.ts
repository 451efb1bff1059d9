// Prints the slowest tests and files of each report of vitest, the tests that failed with the first lines of their messages,
// then `N passed, N failed` over all reports. Reports after `--again` are of tests that another one has too: what failed in
// them counts, what passed counts once. A report that is missing or empty, a file that could not run at all, and a test that
// never ended because its process was killed count as failures. No test is repeated.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** The used part of vitest's JSON report. */
export interface Report {
	readonly success: boolean;
	readonly numPassedTests: number;
	readonly numFailedTests: number;
	readonly testResults?: readonly FileReport[];
}

interface FileReport {
	readonly name: string;
	readonly status: string;
	readonly message: string;
	/** Milliseconds since the epoch. */
	readonly startTime?: number;
	readonly endTime?: number;
	readonly assertionResults: readonly {
		readonly fullName: string;
		/** The test's own, without those of the groups it is in. */
		readonly title?: string;
		readonly status: string;
		/** Milliseconds; null for a test that did not run. */
		readonly duration?: number | null;
		readonly failureMessages: readonly string[];
	}[];
}

const messageLines = 6;
/** Tests and files that are listed as slow. */
const mostSlow = 15;

/** Reads one report; none, or one that cannot be read, is a failed run without tests. */
export function readReport(file: string): Report {
	const text = existsSync(file) ? readFileSync(file, "utf8") : "";
	return text === "" ? { success: false, numPassedTests: 0, numFailedTests: 0 } : JSON.parse(text);
}

/** Passed tests in `reports`, and failed ones in them or when they ran `again`. */
export function countResults(
	reports: readonly Report[],
	again: readonly Report[] = [],
): {
	readonly passed: number;
	readonly failed: number;
} {
	return {
		passed: reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0),
		failed: [...reports, ...again].reduce((sum, report) => sum + countFailures(report), 0),
	};
}

function countFailures(report: Report): number {
	const failed = report.numFailedTests + listUnended(report).length;
	return Math.max(failed, report.success ? 0 : 1);
}

/** Every failed test of a report as its file, its name and the first lines of what went wrong. */
export function listFailures(report: Report): string[] {
	const failures = (report.testResults ?? []).flatMap(({ name: file, status, message, assertionResults }) => {
		const failed = assertionResults.filter((test) => test.status === "failed");
		const ownFailure =
			failed.length === 0 && status === "failed" ? [describe(file, "(the file)", [message])] : [];
		return [...failed.map((test) => describe(file, test.fullName, test.failureMessages)), ...ownFailure];
	});
	return [...failures, ...listUnended(report)];
}

/** The tests that were under way, or still to come, when their process was killed, and the files that were not loaded. */
function listUnended({ testResults = [] }: Report): string[] {
	const reason = ["It did not end: its process was killed before."];
	return testResults.flatMap(({ name: file, status, assertionResults }) => {
		const unended = assertionResults.filter((test) => test.status === "pending");
		if (status !== "failed" && assertionResults.length === 0) return [describe(file, "(the file)", reason)];
		return unended.map(({ fullName }) => describe(file, fullName, reason));
	});
}

/** The files and tests of a report that took longest, with their seconds. */
export function listSlow({ testResults = [] }: Report, most: number = mostSlow): string[] {
	const files = testResults.map(({ name, startTime = 0, endTime = 0 }) => ({
		what: relative(process.cwd(), name),
		took: endTime - startTime,
	}));
	const tests = testResults.flatMap(({ name, assertionResults }) =>
		assertionResults.map(({ fullName, duration }) => ({
			what: `${relative(process.cwd(), name)}: ${fullName}`,
			took: duration ?? 0,
		})),
	);
	return [files, tests].flatMap((each) =>
		each
			.sort((one, other) => other.took - one.took)
			.slice(0, most)
			.map(({ what, took }) => `${(took / 1_000).toFixed(1).padStart(6)} s  ${what}`),
	);
}

function describe(file: string, name: string, messages: readonly string[]): string {
	const ours = (line: string): boolean => !line.includes("node_modules") && !line.includes("<anonymous>");
	const lines = messages.flatMap((message) => message.split("\n").filter(ours).slice(0, messageLines));
	return [`FAILED ${relative(process.cwd(), file)}: ${name}`, ...lines.map((line) => `    ${line}`)].join(
		"\n",
	);
}

if (import.meta.main) {
	const files = process.argv.slice(2);
	const first = files.includes("--again") ? files.indexOf("--again") : files.length;
	const reports = files.slice(0, first).map(readReport);
	const again = files.slice(first + 1).map(readReport);
	for (const slow of reports.flatMap((report) => listSlow(report))) console.log(slow);
	for (const failure of [...reports, ...again].flatMap(listFailures)) console.log(failure);
	const { passed, failed } = countResults(reports, again);
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

// Prints the slowest tests and files, the tests that failed with the first lines of their messages, then `N passed, N
// failed` from reports of vitest: what passed in the first, what failed in any of them. A report that is missing or empty,
// and a file that could not run at all, count as one failure. No test is repeated.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

interface Report {
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

/** What passed in the first report, and what failed in any. */
export function countResults(reports: readonly Report[]): {
	readonly passed: number;
	readonly failed: number;
} {
	const failures = reports.map(({ success, numFailedTests }) => Math.max(numFailedTests, success ? 0 : 1));
	return { passed: reports[0]?.numPassedTests ?? 0, failed: failures.reduce((sum, each) => sum + each, 0) };
}

/** Every failed test of a report as its file, its name and the first lines of what went wrong. */
export function listFailures(report: Report): string[] {
	return (report.testResults ?? []).flatMap(({ name: file, status, message, assertionResults }) => {
		const failed = assertionResults.filter((test) => test.status === "failed");
		const ownFailure =
			failed.length === 0 && status === "failed" ? [describe(file, "(the file)", [message])] : [];
		return [...failed.map((test) => describe(file, test.fullName, test.failureMessages)), ...ownFailure];
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
	const reports = process.argv.slice(2).map(readReport);
	for (const slow of reports.slice(0, 1).flatMap((report) => listSlow(report))) console.log(slow);
	for (const failure of reports.flatMap(listFailures)) console.log(failure);
	const { passed, failed } = countResults(reports);
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

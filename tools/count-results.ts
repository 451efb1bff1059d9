// Prints `N passed, N failed` from reports of vitest: what passed in the first, what failed in any of them.
// A report that is missing or empty, and a file that could not run at all, count as one failure.
import { existsSync, readFileSync } from "node:fs";

interface Report {
	readonly success: boolean;
	readonly numPassedTests: number;
	readonly numFailedTests: number;
}

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

if (import.meta.main) {
	const { passed, failed } = countResults(process.argv.slice(2).map(readReport));
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

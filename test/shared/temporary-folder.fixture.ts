// A folder for one test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder, removed when the test under way is over and its hooks have run. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}

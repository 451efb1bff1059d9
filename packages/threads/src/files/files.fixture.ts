// Hosts that keep files, for tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { onTestFinished } from "vitest";

/** Hosts by name; those of SQLite need a path. */
export const hosts: readonly (readonly [string, (folder: string) => Host])[] = [
	["memory", () => memoryHost()],
	["sqlite", (folder) => sqliteHost(`${folder}/files.db`)],
];

/** A new folder, removed when the test under way is over and its hooks have run. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}

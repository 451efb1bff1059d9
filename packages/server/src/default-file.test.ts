// Without a word about where, a server keeps its sessions in a file: they are there when it is started again.
import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

/** A server in a process of its own in that folder: begins a session, or says which it has. */
function inFolder(cwd: string, what: "begin" | "list"): Promise<unknown> {
	const child = fork(join(import.meta.dirname, "default-file.fixture.ts"), [what], {
		cwd,
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	return new Promise((resolve, reject) => {
		child.once("message", resolve);
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
}

test("sessions are in .holdfast/holdfast.db where nothing else is said, over a kill [API-055]", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-default-"));
	try {
		expect(await inFolder(folder, "begin")).toEqual(["s"]);
		expect(existsSync(join(folder, ".holdfast", "holdfast.db"))).toBe(true);
		expect(await inFolder(folder, "list")).toEqual(["s"]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a stream is complete if another library has replaced the global Response", async () => {
	const program = join(import.meta.dirname, "overridden.fixture.ts");
	const flags = ["--conditions=holdfast-source", "--no-warnings"];
	const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program]);
	expect(stderr).toBe("");
	expect(stdout).toMatch(/^text\/event-stream /);
	expect(stdout).toContain('"type":"execute_complete"');
});

// A project that `holdfast init` creates, compiled and tested as a user would.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run } from "./spawn.fixture.ts";

const root = join(import.meta.dirname, "../../../..");

/**
 * Returns the compiler's errors in the project's own files. The packages' sources are compiled as well, but with other
 * rules.
 */
function refused(project: string): readonly string[] {
	const compiler = join(root, "node_modules/.bin/tsc");
	const parameters = [compiler, "-p", ".", "--pretty", "false", "--customConditions", "holdfast-source"];
	const { stdout } = spawnSync(process.execPath, parameters, { cwd: project, encoding: "utf8" });
	return stdout.split("\n").filter((line) => /^(?:agents|test)\//.test(line));
}

describe("init", () => {
	test("creates a project that compiles and whose tests pass, once its packages are installed", async () => {
		const folder = temporaryFolder();
		const project = join(folder, "shop");
		expect((await run(["init", "shop"], { folder })).code).toBe(0);
		await run(["check", "shop"], { folder });
		mkdirSync(join(project, "node_modules/@holdfast"), { recursive: true });
		symlinkSync(join(root, "packages/threads"), join(project, "node_modules/@holdfast/threads"), "dir");
		for (const name of ["zod", "@types", "holdfast"])
			symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name), "dir");
		const tests = ["--conditions=holdfast-source", "--test", "--test-reporter=tap"];
		const report = execFileSync(process.execPath, tests, { cwd: project, encoding: "utf8", stdio: "pipe" });
		expect(report).toContain("# fail 0");
		writeFileSync(
			join(project, "agents/tools/bad.ts"),
			`import { definePrompt } from "@holdfast/threads";
export const bad = definePrompt({ name: "b", toolDescription: "x", prompt: "x", model: "ofline" });
`,
		);
		expect(refused(project)).toEqual([expect.stringContaining('"ofline"')]);
	});
});

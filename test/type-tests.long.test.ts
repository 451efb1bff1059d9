// That type tests are able to fail: the checker sees every one of them, and a wrong expectation is reported.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listSources } from "../tools/list-sources.ts";
import { type CommandResult, runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");

test("the configuration of the type tests covers every source, test and tool", async () => {
	const { output } = await runCommand(
		[join(root, "node_modules/.bin/tsc"), "-p", "tsconfig.test.json", "--listFilesOnly"],
		{ folder: root },
	);
	const seen = new Set(output.split("\n"));
	expect(listSources(root).filter((file) => !seen.has(join(root, file)))).toEqual([]);
});

test("a type test with a wrong expectation fails, one with a right expectation passes", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-types-"));
	try {
		symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
		const configuration = { extends: join(root, "tsconfig.test.json"), include: ["*.ts"] };
		writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
		writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configuration));
		const source = (type: string): string =>
			`import { expectTypeOf, test } from "vitest";\ntest("one", () => expectTypeOf(1).toEqualTypeOf<${type}>());\n`;
		const runTypeTests = (): Promise<CommandResult> =>
			runCommand(
				[
					process.execPath,
					join(root, "node_modules/vitest/vitest.mjs"),
					"run",
					`--root=${folder}`,
					"--reporter=default",
					"--typecheck.only",
					"--typecheck.tsconfig=tsconfig.json",
				],
				{ folder, environment: { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}` } },
			);
		writeFileSync(join(folder, "a.test-d.ts"), source("number"));
		expect(await runTypeTests()).toMatchObject({ code: 0 });
		writeFileSync(join(folder, "a.test-d.ts"), source("string"));
		expect(await runTypeTests()).toMatchObject({
			code: 1,
			output: expect.stringContaining("TypeCheckError"),
		});
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

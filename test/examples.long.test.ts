// Runs every example of the papers and docstrings, each in a process and an empty folder of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleFile, writeExamples } from "../tools/examples/extract.ts";
import { runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");

describe.concurrent("examples", () => {
	for (const example of writeExamples(root).filter(({ run }) => run === "run")) {
		test(`${example.origin}, line ${example.line}, runs`, async () => {
			const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
			try {
				const { code, output } = await runCommand(
					[
						process.execPath,
						"--conditions=holdfast-source",
						`--import=${join(root, "tools/examples/without-network.ts")}`,
						join(root, ".examples", exampleFile(example)),
					],
					{ folder, timeout: 60_000, environment: { OPENAI_API_KEY: "none", ANTHROPIC_API_KEY: "none" } },
				);
				expect(code, output).toBe(0);
			} finally {
				rmSync(folder, { recursive: true, force: true });
			}
		});
	}
});

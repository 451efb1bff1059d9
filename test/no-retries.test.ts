// A test that fails is a failure: none is repeated until it passes, neither by itself nor by the gate.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listSources } from "../tools/list-sources.ts";

const root = `${import.meta.dirname}/..`;

test("no test and no gate repeats a failure", () => {
	const files = [
		...listSources(root).filter((file) => /\.(?:test|fixture)\.ts$/.test(file)),
		"vitest.config.ts",
		"vitest.long.config.ts",
		".ci/run",
		"package.json",
	].filter((file) => !file.endsWith("no-retries.test.ts"));
	// The option of a test or of the runner, as a number or an object; options of models and clients have other names.
	const repeats = files.filter((file) =>
		/[{,]\s*(?:retry|repeats)\s*:\s*(?:\d|\{\s*(?:count|delay))|--retry\b/.test(
			readFileSync(`${root}/${file}`, "utf8"),
		),
	);
	expect(repeats).toEqual([]);
	expect(files.length).toBeGreaterThan(200);
});

import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "bundled-program.fixture.ts");

async function start(bundles: string): Promise<{ readonly isBundled: boolean; readonly report: unknown }> {
	const argv = ["--conditions=holdfast-source", "--no-warnings", program, "one", "two"];
	const env = { ...process.env, HOLDFAST_BUNDLES: bundles };
	return JSON.parse((await promisify(execFile)(process.execPath, argv, { env })).stdout);
}

test("a program that tests start often is started from a bundle, which finds the same files as its sources", async () => {
	const bundles = mkdtempSync(join(tmpdir(), "bundles-"));
	const first = await start(bundles);
	expect(first).toMatchObject({
		isBundled: false,
		report: {
			isMain: true,
			file: program,
			hasSameAgent: true,
			hasSameJournal: true,
			findsPackages: "function",
		},
	});
	await expect.poll(() => start(bundles), { timeout: 100_000 }).toEqual({ ...first, isBundled: true });
});

test("if HOLDFAST_BUNDLES is empty, programs run from their sources", async () => {
	for (let times = 0; times < 3; times++) expect((await start("")).isBundled).toBe(false);
});

// The examples that are there to be killed, or need a Postgres.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../../tools/run-command.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (file: string, ...words: readonly string[]) =>
	runCommand(
		[
			process.execPath,
			"--conditions=holdfast-source",
			"--no-warnings",
			join(root, "examples", file),
			...words,
		],
		{ folder, timeout: 100_000 },
	);

test("email-triage continues after it was killed in the middle of a mail, and drafts each reply once", async () => {
	const killed = await run("email-triage/main.ts", "--crash");
	expect(killed.code).not.toBe(0);
	expect(killed.output).toBe("1-prize: Labelled spam.\n");
	expect(await run("email-triage/main.ts")).toMatchObject({
		code: 0,
		output: "2-invoice, continued: Labelled billing, with a draft.\n3-lunch: Labelled other.\n",
	});
	expect(await run("email-triage/main.ts")).toMatchObject({ code: 0, output: "" });
	const drafts = readdirSync(join(folder, "drafts")).filter((name) => name.endsWith(".txt"));
	expect(drafts).toEqual(["2-invoice.txt"]);
	expect(readFileSync(join(folder, "drafts/2-invoice.txt"), "utf8").match(/We look into/g)).toHaveLength(1);
});

test("postgres has forty sessions processed by two workers, even if one of them is killed", async () => {
	const server = await startPostgresServer();
	onTestFinished(() => server.stop());
	const { code, output } = await run("postgres/main.ts", server.url);
	expect(code, output).toBe(0);
	expect(output).toContain(
		'40 sessions are done. customer-7: Counted: {"customer":"customer-7","parcels":10}',
	);
});

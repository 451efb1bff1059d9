// What `npm run create` refuses before it builds anything.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../tools/run-command.ts";
import { readWorkspaces, withDependencies } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");

async function create(...argv: string[]): Promise<{ code: number; output: string; left: readonly string[] }> {
	const folder = mkdtempSync(join(tmpdir(), "create-"));
	mkdirSync(join(folder, "taken"));
	writeFileSync(join(folder, "taken/notes.txt"), "mine");
	const command = [
		process.execPath,
		"--conditions=holdfast-source",
		join(root, "tools/create.ts"),
		...argv,
	] as const;
	const { code, output } = await runCommand(command, { folder: root, environment: { INIT_CWD: folder } });
	return { code, output, left: readdirSync(folder, { recursive: true }).map(String).sort() };
}

/** The path of a folder next to the clone, from a folder of a test. */
function nextToClone(name: string): string {
	return relative(join(tmpdir(), "create-"), join(root, "..", name));
}

test.each([
	[["taken", "--template", "script"], "taken exists and is not empty, so nothing was written."],
	[["new", "--template", "scirpt"], 'There is no template "scirpt". Use one of: script, service,'],
	[["new", "--tempalte", "script"], "Unknown option '--tempalte'"],
	[[], "Name one folder.\nType: npm run create -- ../my-agent --template script"],
	[["new", "other"], "Name one folder."],
	[["taken/notes.txt"], "taken/notes.txt could not be created, and nothing was written: ENOTDIR"],
	[["taken/notes.txt/new"], "taken/notes.txt/new could not be created, and nothing was written: ENOTDIR"],
	[
		[join(root, "shop")],
		`is inside the clone. Name a folder next to it: npm run create -- ${nextToClone("shop")}\n`,
	],
	[[root], `is inside the clone. Name a folder next to it: npm run create -- ${nextToClone("my-agent")}\n`],
])("%j is rejected, and nothing is written", async (argv, message) => {
	const { code, output, left } = await create(...argv);
	expect([code, output]).toEqual([1, expect.stringContaining(message)]);
	expect(left).toEqual(["taken", "taken/notes.txt"]);
});

test("Ctrl-C while packages are prepared ends what runs, and leaves no folder behind", async () => {
	const folder = mkdtempSync(join(tmpdir(), "create-"));
	const command = ["--conditions=holdfast-source", join(root, "tools/create.ts"), "shop"];
	const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, INIT_CWD: folder } });
	const ended = once(child, "close");
	let output = "";
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
			if (/(?:Building|Packing)[^…]*… $/.test(output)) child.kill("SIGINT");
		});
	expect([(await ended)[0], output]).toEqual([
		130,
		expect.stringContaining("Cancelled. Nothing was left in shop.\n"),
	]);
	expect(readdirSync(folder)).toEqual([]);
});

test("a package is taken with those it depends on, and with no others", () => {
	const names = withDependencies(readWorkspaces(root), ["@holdfast/testing", "zod"]).map(({ name }) => name);
	expect(names).toEqual(["holdfast", "@holdfast/memory", "@holdfast/testing", "@holdfast/upp"]);
});

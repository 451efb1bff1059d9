import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";

const program = join(import.meta.dirname, "../../bin/holdfast.js");
let folder: string;

// The program is copied to a folder without a pinned Node above it, with a main file that selects the Node to run.
beforeEach(() => {
	folder = temporaryFolder();
	mkdirSync(join(folder, "package/bin"), { recursive: true });
	mkdirSync(join(folder, "package/dist"));
	copyFileSync(program, join(folder, "package/bin/holdfast.js"));
	writeFileSync(join(folder, "package/package.json"), '{ "type": "module" }');
	writeFileSync(
		join(folder, "package/dist/main.js"),
		"console.log(process.env.HOLDFAST_NODE ?? 'own', process.argv.slice(2).join(' ')); process.exitCode = 7;",
	);
});

function startOn(version: string): { status: number | null; stdout: string; stderr: string } {
	const before = join(folder, "version.mjs");
	writeFileSync(before, `Object.defineProperty(process.versions, "node", { value: "${version}" });`);
	const environment = { ...process.env, HOLDFAST_NODE: undefined };
	const argv = ["--import", before, join(folder, "package/bin/holdfast.js"), "run", "x y"];
	return spawnSync(process.execPath, argv, { encoding: "utf8", env: environment });
}

test("a supported Node runs the command itself", () => {
	expect(startOn("22.18.0")).toMatchObject({ status: 7, stdout: "own run x y\n" });
});

test("an old Node starts the pinned one, with arguments and exit code", () => {
	mkdirSync(join(folder, "node_modules/node/bin"), { recursive: true });
	symlinkSync(process.execPath, join(folder, "node_modules/node/bin/node"));
	expect(startOn("20.11.0")).toMatchObject({ status: 7, stdout: "pinned run x y\n" });
});

test("an old Node without a pinned one reports the required version", () => {
	const { status, stdout, stderr } = startOn("20.11.0");
	expect([status, stdout]).toEqual([2, ""]);
	expect(stderr).toMatch(/^holdfast needs Node 22\.18 or newer; this is Node 20\.11\.0\. .*\n$/);
});

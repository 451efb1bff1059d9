// `npm create holdfast@latest`, as a user types it: from a registry on this machine, with the packages as they would be published.
// The tests before a release try the release itself, every template and other package managers.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packPackages } from "../../tools/pack.ts";
import { runCommand } from "../../tools/run-command.ts";
import { readWorkspaces, withDependencies } from "../../tools/workspaces.ts";
import { type Registry, startRegistry } from "./registry.fixture.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
let registry: Registry;

/** The packages that the template `script` needs, and the one that creates it. */
function neededPackages() {
	const template = join(root, "packages/create-holdfast/templates/script/package.json");
	const { dependencies, devDependencies } = JSON.parse(readFileSync(template, "utf8"));
	const names = Object.keys({ ...dependencies, ...devDependencies, "create-holdfast": "" });
	return withDependencies(readWorkspaces(root), names);
}

beforeAll(async () => {
	folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-create-latest-"));
	const packing = packPackages(root, neededPackages(), join(folder, "archives"));
	const [started, archives] = await Promise.all([startRegistry(folder), packing]);
	registry = started;
	for (const archive of archives.values()) await registry.must(["npm", "publish", archive], folder);
});
afterAll(async () => {
	await registry?.close();
	await runCommand(["rm", "-rf", folder], { folder: "/" });
});

test("npm create holdfast@latest makes a project that is installed from a registry, checked, and answers", async () => {
	const create = ["npm", "create", "--yes", "holdfast@latest", "shop", "--", "--template", "script"] as const;
	expect(await registry.must(create, folder)).toContain("cd shop\n  npm install\n");
	const project = join(folder, "shop");
	await registry.must(["npm", "install", "--no-audit", "--no-fund", "--silent"], project);
	const { version } = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8"));
	const installed = readFileSync(join(project, "node_modules/holdfast/package.json"), "utf8");
	expect(JSON.parse(installed).version).toBe(version);
	await registry.must(["npm", "run", "check"], project);
	const asked = await registry.must(["npm", "start", "--silent", "--", "What is 20 + 22?"], project);
	expect(asked).toContain("That makes 42.");
});

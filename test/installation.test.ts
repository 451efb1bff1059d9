// What a newcomer meets first: a whole lock file, and a clear message on a Node that is too old.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../tools/run-command.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const readJson = <Shape>(file: string): Shape => JSON.parse(readFileSync(join(root, file), "utf8"));

test("the lock file holds the packages of every platform, so that npm ci works on each of them", () => {
	const { packages } = readJson<{ packages: Record<string, { optionalDependencies?: object }> }>(
		"package-lock.json",
	);
	const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
	const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
		Object.keys(optionalDependencies)
			.filter((name) => !locked.has(name))
			.map((name) => `${name} for ${path}`),
	);
	expect(missing).toEqual([]);
});

test("every npm script first checks the Node version", () => {
	const { scripts } = readJson<{ scripts: Record<string, string> }>("package.json");
	const unguarded = Object.entries(scripts).filter(
		([, command]) => !command.startsWith("node tools/require-node.cjs && "),
	);
	expect(unguarded).toEqual([]);
});

test.each([
	["20.20.2", 1],
	["22.17.1", 1],
	["22.18.0", 0],
	["24.9.0", 0],
])("on Node %s the guard of the npm scripts exits with %i", async (version, expected) => {
	const script = `Object.defineProperty(process.versions, "node", { value: "${version}" });
		require("./tools/require-node.cjs");`;
	const { code, output } = await runCommand([process.execPath, "--input-type=commonjs", "-e", script], {
		folder: root,
		environment: { npm_lifecycle_event: "test" },
	});
	expect(code).toBe(expected);
	if (expected === 1) {
		expect(output).toContain(`needs Node 22.18.0 or newer; this is Node ${version}`);
		expect(output).toContain("run `npm test` through npm");
	}
});

test("the oldest Node is the same for the guard, the packages and the run of a clean checkout", () => {
	expect(readFileSync(join(root, "tools/require-node.cjs"), "utf8")).toContain("minimum = [22, 18, 0]");
	expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain("minimum=22.18.0");
	for (const { folder } of readWorkspaces(root)) {
		const { engines } = readJson<{ engines: { node: string } }>(`packages/${folder}/package.json`);
		expect(engines.node).toBe(">=22.18");
	}
});

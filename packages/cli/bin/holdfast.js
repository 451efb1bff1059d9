#!/usr/bin/env node
// Starts the holdfast command on a Node that can run it: this one, or a pinned one (the npm package "node") in a
// node_modules folder next to or above this file. Plain JavaScript that an old Node can read.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const minimum = [22, 18];
const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "../src/main.ts");
const fromSource = existsSync(source);
const main = fromSource ? source : join(here, "../dist/main.js");

function isNewEnough(version) {
	const [major, minor] = version.split(".").map(Number);
	return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

/** The nearest pinned Node, from this file's folder upwards. */
function findPinnedNode() {
	const program = process.platform === "win32" ? "node.exe" : "node";
	for (let folder = here; ; folder = dirname(folder)) {
		const found = join(folder, "node_modules", "node", "bin", program);
		if (existsSync(found)) return found;
		if (dirname(folder) === folder) return undefined;
	}
}

/** Runs the same command with another Node, passing signals and the exit code on. */
function runWith(node) {
	const conditions = fromSource ? ["--conditions=holdfast-source"] : [];
	const environment = Object.assign({}, process.env, { HOLDFAST_NODE: "pinned" });
	const child = spawn(node, [...conditions, main, ...process.argv.slice(2)], {
		stdio: "inherit",
		env: environment,
	});
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
	child.on("error", (error) => {
		process.stderr.write(`holdfast: ${node} could not be started: ${error.message}\n`);
		process.exit(1);
	});
	child.on("exit", (code, signal) => {
		if (signal === null) process.exit(code === null ? 1 : code);
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	});
}

const pinned = findPinnedNode();
const conditionsAreSet = !fromSource || process.execArgv.includes("--conditions=holdfast-source");

if (isNewEnough(process.versions.node) && conditionsAreSet) await import(pathToFileURL(main).href);
else if (isNewEnough(process.versions.node)) runWith(process.execPath);
else if (pinned !== undefined && process.env.HOLDFAST_NODE !== "pinned") runWith(pinned);
else {
	process.stderr.write(
		`holdfast needs Node ${minimum.join(".")} or newer; this is Node ${process.versions.node}. Install a newer Node, or the npm package "node" beside it.\n`,
	);
	process.exit(2);
}

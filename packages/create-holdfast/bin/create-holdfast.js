#!/usr/bin/env node
// Starts create-holdfast, or says which Node it needs. Plain JavaScript that an old Node can read.
import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
const source = new URL("../src/main.ts", import.meta.url);

if (major < 22 || (major === 22 && minor < 18)) {
	process.stderr.write(`Holdfast needs Node 22.18 or newer; this is Node ${process.versions.node}.\n`);
	process.exitCode = 2;
} else await import(existsSync(source) ? source.href : new URL("../dist/main.js", import.meta.url).href);

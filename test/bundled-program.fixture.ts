// A program for the test of bundles: says where it is, and whether what it loads later is what it has.
import { sep } from "node:path";
import { Agent } from "holdfast";
import { sqliteJournal } from "holdfast/sqlite";

const [core, sqlite, server] = ["holdfast", "holdfast/sqlite", "hono"];
const report = {
	isMain: import.meta.main,
	folder: import.meta.dirname,
	file: import.meta.filename,
	url: import.meta.url,
	argv: process.argv.slice(1),
	hasSameAgent: (await import(core)).Agent === Agent,
	hasSameJournal: (await import(sqlite)).sqliteJournal === sqliteJournal,
	findsPackages: typeof (await import(server)).Hono,
};
const isBundled = (new Error().stack ?? "").includes(`${sep}test-bundled-program.fixture.ts${sep}`);
console.log(JSON.stringify({ isBundled, report }));

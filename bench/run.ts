// `npm run bench`: packs the packages, runs each row as a separate process against the packed files, prints a table and
// writes bench/results/. If all rows were measured in full, that is latest.json, and the table goes into
// docs/guide/performance.md too; else it is partial.json. `-- --quick` measures less, `-- loop deltas` selects rows, `--
// postgres-large --sessions 1000000 --entries 50` sets the size of that row's store.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCommand } from "../tools/run-command.ts";
import type { Machine, RowResult } from "./measure.ts";
import { installPacked } from "./pack.ts";
import { writePage } from "./page.ts";
import { judge, tableOf } from "./table.ts";

/** The rows in the order of the table, with the flags their process needs. */
const rows: ReadonlyMap<string, readonly string[]> = new Map([
	["loop", []],
	["ai-sdk", []],
	["strategies", []],
	["deltas", []],
	["runner", []],
	["code-mode", []],
	["code-mode-task", []],
	["sessions", ["--expose-gc"]],
	["durable-step", []],
	["workflow-steps", []],
	["journal-size", []],
	["durable-sessions", []],
	["postgres-step", []],
	["postgres-sessions", []],
	["postgres-workers", []],
	["postgres-waiting", []],
	["postgres-large", []],
	["session-turns", []],
	["open-sessions", ["--expose-gc"]],
	["long-session", []],
	["peers", []],
	["recovery", []],
	["background-jobs", []],
	["threads", []],
	["serving", ["--expose-gc"]],
	["redaction", []],
	["memory-search", []],
	["projects", []],
	["import", []],
	["installed-size", []],
	["types", []],
]);
const machine: Machine = {
	date: new Date().toISOString().slice(0, 10),
	node: process.version,
	platform: `${process.platform} ${process.arch}`,
	cores: availableParallelism(),
	processor: cpus()[0]?.model ?? "unknown",
	loadBefore: loadavg()[0] as number,
};
/** Milliseconds after which a row counts as hanging. */
const patience = 600_000;
/** The same where the size was given. */
const muchPatience = 24 * 60 * 60 * 1_000;

async function measureRow(row: string, folder: string, given: readonly string[]): Promise<RowResult> {
	const flags = [
		"--disable-warning=ExperimentalWarning",
		"--disable-warning=HoldfastWarning",
		...(rows.get(row) ?? []),
	];
	const place = join(folder, "work", row);
	mkdirSync(place, { recursive: true });
	const program = join(folder, "bench/rows", `${row}.ts`);
	const { code, output, stdout } = await runCommand([process.execPath, ...flags, program, ...given], {
		folder: place,
		timeout: given.includes("--sessions") ? muchPatience : patience,
	});
	if (code !== 0) return { row, failed: `exit code ${code}: ${output.trim() || "it said nothing"}` };
	try {
		return { row, measurements: JSON.parse(stdout) };
	} catch {
		return { row, failed: `it did not report measurements but: ${output.trim()}` };
	}
}

function write(results: readonly RowResult[], name: string): string {
	const brief = (_: string, value: unknown): unknown =>
		typeof value === "number" ? Number(value.toPrecision(4)) : value;
	const path = join(import.meta.dirname, "results", name);
	writeFileSync(path, `${JSON.stringify({ machine, rows: results }, brief, 1)}\n`);
	return path;
}

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		options: {
			quick: { type: "boolean", default: false },
			// Of the row postgres-large.
			sessions: { type: "string" },
			entries: { type: "string" },
		},
		allowPositionals: true,
	});
	const given = [
		...(values.quick ? ["--quick"] : []),
		...(["sessions", "entries"] as const).flatMap((name) => {
			const value = values[name];
			return value === undefined ? [] : [`--${name}`, value];
		}),
	];
	const unknown = positionals.filter((row) => !rows.has(row));
	if (unknown.length > 0) {
		console.error(`There is no row ${unknown.join(", ")}. Rows: ${[...rows.keys()].join(", ")}.`);
		process.exitCode = 2;
		return;
	}
	const chosen = positionals.length > 0 ? positionals : [...rows.keys()];
	const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
	try {
		await installPacked(folder);
		const results: RowResult[] = [];
		for (const row of chosen) {
			const result = await measureRow(row, folder, given);
			results.push(result);
			console.log(tableOf(result));
		}
		const { loadBefore } = machine;
		if (loadBefore > 0.5) console.log(`The machine was busy before: a load of ${loadBefore.toFixed(1)}.`);
		const { missed, failed } = judge(results);
		const complete = chosen.length === rows.size && given.length === 0 && failed === 0;
		console.log(`Written to ${write(results, complete ? "latest.json" : "partial.json")}`);
		if (complete) writePage(machine, results);
		console.log(`${missed} targets missed, ${failed} rows could not be measured.`);
		process.exitCode = failed > 0 ? 1 : 0;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

try {
	await main();
} catch (error) {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
}

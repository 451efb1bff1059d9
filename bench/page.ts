// Puts the table of a complete run into the page about performance, between its two marks.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine, RowResult } from "./measure.ts";
import { cellsOf, head } from "./table.ts";

const page = join(import.meta.dirname, "../docs/guide/performance.md");
const [begin, end] = ["<!-- measured -->", "<!-- /measured -->"];

/** Updates the page with these results. */
export function writePage(machine: Machine, results: readonly RowResult[]): void {
	const text = readFileSync(page, "utf8");
	const [from, to] = [text.indexOf(begin), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`${page} has no place for the table: ${begin} … ${end}.`);
	const { date, node, platform, cores, processor, loadBefore } = machine;
	const where = `${date}, Node ${node}, ${platform}, ${cores} cores (${processor}), load before ${loadBefore.toFixed(1)}.`;
	const table = [
		row(head),
		row(head.map((_, at) => (at === 0 ? "---" : "---:"))),
		...results.flatMap(rowsOf),
	];
	writeFileSync(page, `${text.slice(0, from)}${begin}\n${where}\n\n${table.join("\n")}\n${text.slice(to)}`);
}

function rowsOf(result: RowResult): readonly string[] {
	if ("failed" in result) return [row([`${result.row}: not measured`, ...head.slice(1).map(() => "")])];
	return result.measurements.map((each) => {
		const [what = "", ...cells] = cellsOf(each);
		return row([each.note === undefined ? what : `${what} (${each.note})`, ...cells]);
	});
}

function row(cells: readonly string[]): string {
	return `| ${cells.join(" | ")} |`;
}

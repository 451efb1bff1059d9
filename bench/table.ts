// How measurements are shown: one line each, with its target and whether it was reached.
import type { Measurement, RowResult } from "./measure.ts";

const columns = [58, 11, 11, 9, 14, 6] as const;
/** The heads of the columns; the first one is the row's name. */
export const head = ["", "median", "p99", "CPU µs", "target", ""];

/** The lines of one row under its name. */
export function tableOf(result: RowResult): string {
	if ("failed" in result) return `\n${result.row}\n  NOT MEASURED: ${result.failed}\n`;
	const lines = result.measurements.flatMap((each) => [padded(indented(cellsOf(each))), ...noteOf(each)]);
	return `\n${padded([result.row, ...head.slice(1)])}\n${lines.join("\n")}\n`;
}

/** Whether a measurement is where it was meant to be; true for one without a target. */
function reached({ median, target }: Measurement): boolean {
	if (target === undefined) return true;
	return target.is === "at most" ? median <= target.value : median >= target.value;
}

/** How many targets were missed and how many rows could not be measured. */
export function judge(results: readonly RowResult[]): { missed: number; failed: number } {
	let missed = 0;
	let failed = 0;
	for (const result of results) {
		if ("failed" in result) failed++;
		else missed += result.measurements.filter((each) => !reached(each)).length;
	}
	return { missed, failed };
}

/** A measurement as the cells of its line. */
export function cellsOf(each: Measurement): readonly string[] {
	const { what, unit, median, p99, cpu, target } = each;
	return [
		what,
		shown(median, unit),
		p99 === undefined ? "" : shown(p99, unit),
		cpu === undefined ? "" : shown(cpu, ""),
		target === undefined ? "" : `${target.is === "at most" ? "≤" : "≥"} ${shown(target.value, unit)}`,
		target === undefined ? "" : reached(each) ? "pass" : "MISS",
	];
}

function indented([what, ...cells]: readonly string[]): readonly string[] {
	return [`  ${what}`, ...cells];
}

function noteOf({ note }: Measurement): readonly string[] {
	return note === undefined ? [] : [`    ${note}`];
}

function shown(value: number, unit: string): string {
	const size = Math.abs(value);
	const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
	const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
	return unit === "" ? text : `${text} ${unit}`;
}

function padded(cells: readonly string[]): string {
	return cells
		.map((cell, at) => (at === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[at] ?? 0)))
		.join(" ")
		.trimEnd();
}

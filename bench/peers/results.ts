// Writes the figures as tables into RESULTS.md and the comparison page.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import type { Figure, measureImports, Subject, sizeOf, Takeover } from "./measure-peers.ts";
import type { Row } from "./peers.ts";

export interface Results {
	readonly subjects: readonly Subject[];
	readonly figures: ReadonlyMap<Exclude<Row, "takeover">, ReadonlyMap<string, Figure | string>>;
	readonly takeovers: ReadonlyMap<string, Takeover>;
	readonly imports: ReturnType<typeof measureImports>;
	readonly sizes: ReadonlyMap<string, ReturnType<typeof sizeOf>>;
	/** The machine's load in the minute before and after. */
	readonly loadBefore: number;
	readonly loadAfter: number;
}

const here = import.meta.dirname;

const titles = {
	"loop-10": "a step of 10",
	"loop-200": "a step of 200",
	stream: "a delta of a stream",
	conversations: "a conversation, 200 at once",
	durable: "a durable step on SQLite",
} as const;

function shown(value: number): string {
	const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
	return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
	[line(head), line(head.map((_, at) => (at === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");

/** Returns the tables, with the machine and the date. */
export function tablesOf(results: Results): string {
	const { subjects, figures, takeovers, imports, sizes, loadBefore, loadAfter } = results;
	const cell = (figure: Figure | string | undefined): string => {
		if (figure === undefined) return "–";
		if (typeof figure === "string") return "failed";
		return `${shown(figure.cpu)} (${shown(figure.ratio)} ×)`;
	};
	const failures = [...figures].flatMap(([row, found]) =>
		[...found].flatMap(([name, figure]) =>
			typeof figure === "string" ? [`- ${row}, ${name}: ${figure}`] : [],
		),
	);
	const named = ({ title, version }: Subject): string => `${title} ${version}`;
	const rows = [...figures.keys()];
	const walls = (figure: Figure | string | undefined): string =>
		typeof figure === "object" ? shown(figure.wall) : "–";
	return [
		`${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after.`,
		"CPU time in microseconds and its ratio to Holdfast's, as the median of three rounds:",
		table(
			["", ...rows.map((row) => titles[row])],
			subjects
				.filter((subject) => subject.rows.length > 0)
				.map((subject) => [named(subject), ...rows.map((row) => cell(figures.get(row)?.get(subject.name)))]),
		),
		"Wall-clock time in microseconds, on a machine shared with other programs:",
		table(
			["", ...rows.map((row) => titles[row])],
			subjects
				.filter((subject) => subject.rows.length > 0)
				.map((subject) => [named(subject), ...rows.map((row) => walls(figures.get(row)?.get(subject.name)))]),
		),
		"A run of 40 tool calls, killed with SIGKILL inside the 20th call and continued by another process:",
		table(
			["", "tool calls in total", "time to the end of the run, ms", "file size per durable step, bytes"],
			[...takeovers].map(([name, { calls, milliseconds }]) => {
				const subject = subjects.find((each) => each.name === name) as Subject;
				const durable = figures.get("durable")?.get(name);
				const bytes = typeof durable === "object" ? durable.bytes : undefined;
				return [named(subject), String(calls), shown(milliseconds), bytes === undefined ? "–" : shown(bytes)];
			}),
		),
		"Installed size without source maps, and the time that the import adds to the start of a process:",
		table(
			["", "installed, MB", "packages", "import, CPU ms", "import, wall-clock ms"],
			subjects.map((subject) => {
				const { bytes, packages } = sizes.get(subject.name) ?? { bytes: 0, packages: 0 };
				const { cpu, wall } = imports.get(subject.name) ?? { cpu: 0, wall: 0 };
				return [named(subject), shown(bytes / 1e6), String(packages), shown(cpu), shown(wall)];
			}),
		),
		...(failures.length === 0 ? [] : [failures.join("\n")]),
	].join("\n\n");
}

/** Writes tables into both pages, between the marks with this name. */
export function write(tables: string, name: "measured" | "workflows"): void {
	const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
	for (const page of [join(here, "RESULTS.md"), join(here, "../../docs/guide/comparison.md")]) {
		const text = readFileSync(page, "utf8");
		const [from, to] = [text.indexOf(begin), text.indexOf(end)];
		if (from < 0 || to < from) throw new Error(`${page} has no place for the tables: ${begin} … ${end}.`);
		writeFileSync(page, `${text.slice(0, from)}${begin}\n${tables}\n${text.slice(to)}`);
	}
}

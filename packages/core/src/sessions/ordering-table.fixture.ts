// Reads the ordering table from docs/adr/021-a-session-is-a-queue.md: the possible outcomes of a request in the states
// that the session has while the request runs.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A state of the session as one process sees it. `left`: a process that died has left a run open. */
export type SeenState = "idle" | "blocked" | "running" | "waiting" | "parked" | "left";

const adr = join(import.meta.dirname, "../../../../docs/adr/021-a-session-is-a-queue.md");

/** The cells of the table, by request and state. */
export function readOrderingTable(): ReadonlyMap<string, ReadonlyMap<string, string>> {
	const lines = readFileSync(adr, "utf8").split("\n");
	const first = lines.findIndex((line) => line.startsWith("| request | idle |"));
	const cellsOf = (line: string): readonly string[] =>
		line
			.split("|")
			.slice(1, -1)
			.map((cell) => cell.trim());
	const states = cellsOf(lines[first] ?? "").slice(1);
	const table = new Map<string, ReadonlyMap<string, string>>();
	for (const line of lines.slice(first + 2)) {
		if (!line.startsWith("|")) break;
		const [requests = "", ...cells] = cellsOf(line);
		for (const request of requests.replaceAll("`", "").split(", "))
			table.set(request, new Map(states.map((state, at) => [state, cells[at] ?? ""])));
	}
	return table;
}

const table = readOrderingTable();
const isCode = (word: string): boolean => word.includes("_") || word === "null" || word === "false";

/** Returns the possible outcomes of a request in a state: error codes, `null`, `false`, or `accepted`. */
export function outcomesOf(request: string, state: SeenState): ReadonlySet<string> {
	// The first process that reaches a run left open resumes it; until then it counts as another's.
	if (state === "left") {
		const either = (["idle", "blocked", "running"] as const).map((each) => outcomesOf(request, each));
		return new Set(either.flatMap((each) => [...each]));
	}
	const cell = table.get(request)?.get(state) ?? "";
	const like = /as `(\w+)`/.exec(cell)?.[1];
	const codes = [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word).filter(isCode);
	const said = cell.replaceAll(/`\w+`|\bor\b|\belse\b|[;,]/g, "").trim();
	// The text after "accepted" describes the outcome of the run.
	if (/^accepted/.test(cell)) return new Set(["accepted"]);
	return new Set([
		...codes,
		...(said === "" ? [] : ["accepted"]),
		...(like === undefined ? [] : outcomesOf(like, state)),
	]);
}

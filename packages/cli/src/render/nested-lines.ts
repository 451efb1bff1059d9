/** Formats the activity of sub-agents below the call that runs them, indented by two spaces per level. */
import { formatDuration, oneLine, summarise } from "../terminal/index.ts";
import { outcomeMarks } from "./lines.ts";

type Data = Readonly<Record<string, unknown>>;

const widest = 200;
/** Deeper levels are not shown. */
const deepest = 8;

/** Returns the lines for an event of a sub-agent; none for events too minor to show. */
export function nestedLines(event: unknown, width: number = widest): readonly string[] {
	return linesOf(event as Data | null, 1).map(
		({ depth, said }) => `${"  ".repeat(depth)}${oneLine(said, Math.max(20, width - 2 * depth))}`,
	);
}

interface Line {
	readonly depth: number;
	readonly said: string;
}

function linesOf(event: Data | null, depth: number): readonly Line[] {
	if (typeof event !== "object" || event === null || depth > deepest) return [];
	const line = (said: string): readonly Line[] => [{ depth, said }];
	switch (event.type) {
		case "subagent_start":
			return line(`▸ ${text(event.subagentType)}: ${text(event.prompt)}`);
		case "subagent_end":
			return line(endOf(event.success === true, event.subagentType, event.error));
		case "subagent_event":
			return innerLines(event.innerEvent as Data | null, depth + 1);
		case "subagent-job-start": {
			const where = event.run_in_background === true ? " in the background" : "";
			const what = event.description === undefined ? "" : `: ${text(event.description)}`;
			return line(`▸ ${text(event.subagent)}${where}${what}`);
		}
		case "subagent-job-end":
			return line(endOf(event.status === "completed", event.subagent, event.error ?? event.status));
		default:
			return [];
	}
}

/** Formats an event of the sub-agent's own stream: its tool results and its own sub-agents. */
function innerLines(event: Data | null, depth: number): readonly Line[] {
	const uap = (event?.uap ?? null) as { readonly type?: unknown; readonly data?: Data } | null;
	if (uap?.type !== "observation") return linesOf({ ...uap?.data, type: uap?.type }, depth);
	const results = Array.isArray(uap.data?.results) ? (uap.data.results as readonly (Data | null)[]) : [];
	return results.map((given) => {
		const { toolName, result, isError, duration } = given ?? {};
		const took = typeof duration === "number" ? ` · ${formatDuration(duration)}` : "";
		const mark = isError === true ? outcomeMarks.error : outcomeMarks.done;
		return { depth, said: `${mark} ${text(toolName)}${took} · ${summarise(result)}` };
	});
}

function endOf(isDone: boolean, name: unknown, why: unknown): string {
	return isDone ? `${outcomeMarks.done} ${text(name)}` : `${outcomeMarks.error} ${text(name)}: ${text(why)}`;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/**
 * The lines of ended calls. Lookups that end one after the other become one line, since an assistant often makes dozens of
 * them; every other call, and every failed one, has its own.
 */
import type { RunEvent } from "holdfast";
import { formatCount, formatDuration, oneLine } from "../terminal/index.ts";
import { type CallText, outcomeMarks, toolText } from "./lines.ts";

type ToolEnd = Extract<RunEvent, { type: "tool_end" }>;

interface Ended {
	readonly event: ToolEnd;
	readonly input: unknown;
	readonly attempt: number;
}

/** Tools that only read, and the argument that names what they look at. */
const subjects: Readonly<Record<string, string>> = {
	read_file: "path",
	search_text: "pattern",
	list_files: "dir",
};
/** From this many on, lookups of a kind share a line. */
const FEWEST = 3;
const NAMED = 3;

/** Writes a line. */
export type WriteCall = (call: CallText, outcome: ToolEnd["outcome"]) => void;

/** Creates the lines of one run. `flush` writes the lookups that are kept back: call it before any other output. */
export function callLines(
	write: WriteCall,
	width: () => number,
): { ended(call: Ended): void; flush(): void } {
	let kept: Ended[] = [];
	const flush = (): void => {
		const groups = Map.groupBy(kept, ({ event }) => event.call.toolName);
		kept = [];
		for (const [name, calls] of groups) {
			if (calls.length < FEWEST)
				for (const { event, input, attempt } of calls)
					write(toolText(event, input, attempt, width()), event.outcome);
			else write(groupLine(name, calls, width()), "done");
		}
	};
	return {
		flush,
		ended(call) {
			if (call.event.outcome === "done" && subjects[call.event.call.toolName] !== undefined) {
				kept.push(call);
				return;
			}
			flush();
			write(toolText(call.event, call.input, call.attempt, width()), call.event.outcome);
		},
	};
}

function groupLine(name: string, calls: readonly Ended[], width: number): CallText {
	const named = calls.slice(0, NAMED).map(({ input }) => {
		return oneLine(String((input as Record<string, unknown> | null)?.[subjects[name] ?? ""] ?? "."), 60);
	});
	const left = calls.length - named.length;
	const what = named.join(", ") + (left > 0 ? ` and ${formatCount(left)} more` : "");
	const slowest = Math.max(...calls.map(({ event }) => event.duration));
	const tail = ` · ${formatDuration(slowest)}`;
	const head = `${formatCount(calls.length)} × ${name} `;
	const room = Math.max(20, width - head.length - tail.length - 2);
	return { mark: outcomeMarks.done, head: head + oneLine(what, room), tail };
}

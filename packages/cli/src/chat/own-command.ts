/** Commands that the user runs with `!`. The next message contains their output. */
import { outcomeMarks } from "../render/index.ts";
import { oneLine } from "../terminal/index.ts";
import { commandReport, isAllowed, runCommand } from "../tools/index.ts";
import type { Setup } from "../work/index.ts";
import type { Asking } from "./asking.ts";
import type { Transcript } from "./chat-transcript.ts";

/** Milliseconds; Esc ends a command earlier. */
const LONGEST_MS = 3_600_000;
/** Lines of the output that are shown at once. */
const SHOWN_LINES = 20;

/** The parts of a command. */
export interface OwnCommandParts {
	readonly setup: Setup;
	readonly asking: Asking;
	readonly transcript: Transcript;
	readonly signal: AbortSignal;
}

/** Asks, unless the command is allowed, and runs it; returns the text for the model, or undefined if it did not run. */
export async function runOwnCommand(given: string, parts: OwnCommandParts): Promise<string | undefined> {
	const { setup, asking, transcript, signal } = parts;
	const allowed = isAllowed(given, setup.allowedCommands);
	const command = allowed ? given : await asking.approvals.command(given);
	if (command === undefined) return undefined;
	const title = `$ ${oneLine(command, 120)}`;
	transcript.set({ status: "working", calls: [{ id: "!", text: title }] });
	const onOutput = (text: string): void => transcript.output("!", text);
	const options = { dir: setup.dir, timeoutMs: LONGEST_MS, signal, environment: process.env, onOutput };
	const result = await runCommand(command, options);
	transcript.set({ calls: [] });
	const report = commandReport(result);
	const [how = "", ...lines] = report.split("\n");
	const isDone = result.exitCode === 0;
	const mark = outcomeMarks[isDone ? "done" : "error"];
	transcript.add({ kind: "tool", mark, head: title, tail: ` · ${how}`, isDone });
	transcript.keep(title, report);
	const shown = lines.slice(-SHOWN_LINES);
	const more = lines.length > shown.length ? [`… ${lines.length - shown.length} lines above`] : [];
	if (shown.length > 0) transcript.note([...more, ...shown].map((line) => `  ${line}`).join("\n"));
	return `The user ran a command:\n$ ${command}\n${report}`;
}

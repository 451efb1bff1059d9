/** Builds a task from the words of the command and from piped input: `cat log | holdfast run "summarise"`. */
import { type CommandIo, longestPiped } from "../terminal/index.ts";
import { UsageError } from "../work/index.ts";

/** How long to wait for data from an unannounced pipe, in milliseconds. */
const PIPE_MS = 1_000;

/**
 * Returns the task, or undefined. A `-` among the words waits for piped input, without a time limit.
 * @throws UsageError if the piped input is too long for a task, or if `-` was given and the input is empty.
 */
export async function readTask(
	{ task, readsInput }: { readonly task: string | undefined; readonly readsInput: boolean },
	io: CommandIo,
): Promise<string | undefined> {
	const piped = await io.readPiped(
		readsInput ? {} : task === undefined ? { patience: PIPE_MS } : { from: "shell" },
	);
	if (piped !== undefined && piped.length > longestPiped)
		throw new UsageError(
			`The piped input has more than ${longestPiped} characters. Save it as a file in this folder and ask about the file.`,
		);
	if (piped === undefined && readsInput && task === undefined)
		throw new UsageError('The piped input is empty. Give a task: holdfast run "your task".');
	if (piped === undefined || task === undefined) return piped ?? task;
	return `${task}\n\n${piped}`;
}

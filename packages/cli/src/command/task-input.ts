/** Builds a task from the words of the command and from piped input: `cat log | holdfast run "summarise"`. */
import { type CommandIo, longestPiped } from "../terminal/index.ts";
import { UsageError } from "../work/index.ts";

/** How long to wait for data from an unannounced pipe, in milliseconds. */
const PIPE_MS = 1_000;

/**
 * The task, or undefined. A `-` among the words waits for what is piped in, however long that takes.
 * @throws UsageError when more is piped in than is a task, or nothing where it was waited for.
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
		throw new UsageError('Nothing was piped in. Say what to do: holdfast run "your task".');
	if (piped === undefined || task === undefined) return piped ?? task;
	return `${task}\n\n${piped}`;
}

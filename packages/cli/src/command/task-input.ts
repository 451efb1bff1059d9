/** What a task is made of: the words of the command, and what is piped in: `cat log | holdfast run "summarise"`. */

import type { CommandIo } from "../terminal/index.ts";
import { UsageError } from "../work/index.ts";

/** Characters that may be piped in: more would not be read by any model. */
const MOST_CHARACTERS = 2_000_000;

/**
 * The task; undefined when there is none.
 * @throws UsageError when more is piped in than a model could read.
 */
export async function readTask(
	{ task, readsInput }: { readonly task: string | undefined; readonly readsInput: boolean },
	io: CommandIo,
): Promise<string | undefined> {
	const input = await io.readInput(readsInput ? "always" : "where piped", MOST_CHARACTERS + 1);
	if (input !== undefined && input.length > MOST_CHARACTERS)
		throw new UsageError(
			`More than ${MOST_CHARACTERS.toLocaleString("en-US")} characters were piped in. Put them into a file in the folder, and say what to look for.`,
		);
	const text = input?.trim() ?? "";
	if (text === "") return task;
	return task === undefined ? text : `${task}\n\n${text}`;
}

/** Text that is piped into the command: `cat task.txt | holdfast run`. */
import { fstatSync } from "node:fs";

/** Maximum number of characters accepted; a longer text is not a task. */
export const longestPiped = 1_000_000;

/** Options for reading piped text. */
export interface PipedOptions {
	/**
	 * How long to wait for the first data, in milliseconds, because a pipe without a writer may stay open indefinitely.
	 * Default: no limit.
	 */
	readonly patience?: number;
	/**
	 * `shell`: only a pipe or a file, which is what a shell connects; programs that start the command leave empty sockets
	 * open. Default `anyone`.
	 */
	readonly from?: "shell" | "anyone";
}

/** Reads a pipe or a file on standard input. Undefined without one, if it is empty, or if no data arrives in time. */
export async function readPiped(
	input: NodeJS.ReadStream,
	{ patience = Number.POSITIVE_INFINITY, from = "anyone" }: PipedOptions = {},
): Promise<string | undefined> {
	if (input.isTTY === true || !isPiped(from)) return undefined;
	let text = "";
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<undefined>((resolve) => {
		if (patience !== Number.POSITIVE_INFINITY) timer = setTimeout(() => resolve(undefined), patience);
	});
	const whole = new Promise<string | undefined>((resolve) => {
		const end = (): void => resolve(text.trim() === "" ? undefined : text.trim());
		input.setEncoding("utf8");
		input.on("data", (piece: string) => {
			clearTimeout(timer);
			text += piece;
			// Input that is too long is not read completely: the caller rejects it.
			if (text.length > longestPiped) end();
		});
		input.on("end", end);
		// For example a folder, or a closed terminal.
		input.on("error", end);
	});
	try {
		return await Promise.race([whole, late]);
	} finally {
		clearTimeout(timer);
		input.pause();
		// An open pipe must not keep the process alive.
		(input as { unref?: () => void }).unref?.();
	}
}

/** Whether standard input may have a writer. Uses `bigint` because inodes of some systems exceed the safe integers. */
function isPiped(from: "shell" | "anyone"): boolean {
	try {
		const stat = fstatSync(0, { bigint: true });
		return stat.isFIFO() || stat.isFile() || (from === "anyone" && stat.isSocket());
	} catch {
		return false; // It was closed before the process started.
	}
}

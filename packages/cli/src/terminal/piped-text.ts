/** Text that is piped into the command: `cat task.txt | holdfast run`. */
import { fstatSync } from "node:fs";

/** Characters of a text that is taken in; more is no task. */
export const longestPiped = 1_000_000;

/** Which text is taken in. */
export interface PipedOptions {
	/**
	 * How long to wait for the first data, in milliseconds, because a pipe without a writer may stay open indefinitely.
	 * Default: no limit.
	 */
	readonly patience?: number;
	/**
	 * `shell`: only what a shell connects, which is a pipe or a file; programs that start us leave sockets open with nothing
	 * in them. Default `anyone`.
	 */
	readonly from?: "shell" | "anyone";
}

/**
 * The content of a pipe or a file on standard input. Undefined without one, if it is empty, and if no data arrives in
 * time.
 */
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
			// Input that is too long is not read to its end: the caller refuses it.
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
		// A pipe that stays open holds no process.
		(input as { unref?: () => void }).unref?.();
	}
}

/** Whether it may have a writer. As `bigint`: inodes of some systems exceed the safe integers. */
function isPiped(from: "shell" | "anyone"): boolean {
	try {
		const stat = fstatSync(0, { bigint: true });
		return stat.isFIFO() || stat.isFile() || (from === "anyone" && stat.isSocket());
	} catch {
		return false; // it was closed before we began
	}
}

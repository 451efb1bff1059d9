/** How tasks on a database name it, and report what they did. */
import { relative } from "node:path";
import type { CommandIo } from "../terminal/index.ts";

/** A path relative to the current folder. */
export function shown(path: string, { folder }: CommandIo): string {
	const near = relative(folder, path);
	return near.startsWith("..") ? path : near;
}

/** Reports what was done: to programs in one line, to people in their own words. */
export function printReport(io: CommandIo, json: boolean, data: object, lines: readonly string[]): void {
	io.stdout.write(json ? `${JSON.stringify(data)}\n` : `${lines.join("\n")}\n`);
}

/** Formatting for database tasks: paths, and reports of what was done. */
import { relative } from "node:path";
import type { CommandIo } from "../terminal/index.ts";

/** Returns a path relative to the current folder. */
export function shown(path: string, { folder }: CommandIo): string {
	const near = relative(folder, path);
	return near.startsWith("..") ? path : near;
}

/** Reports what was done: one line of JSON for programs, prose for people. */
export function printReport(io: CommandIo, json: boolean, data: object, lines: readonly string[]): void {
	io.stdout.write(json ? `${JSON.stringify(data)}\n` : `${lines.join("\n")}\n`);
}

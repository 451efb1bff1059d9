/** The task `holdfast db move FROM TO`: moves the contents of a store to another kind of store. */
import type { StoreSize } from "holdfast/host";
import { type CommandIo, counted, formatBytes } from "../terminal/index.ts";
import { type Moved, moveToFile, moveToServer } from "../upkeep/index.ts";
import { copySettings, exitCodes, isServer, requireDatabase, shownDatabase } from "../work/index.ts";
import { printReport, shown } from "./database-report.ts";
import type { DatabaseTask } from "./database-task.ts";

type MoveTask = Extract<DatabaseTask, { name: "move" }>;

/** Milliseconds between two progress lines. */
const quiet = 2_000;

/** Moves the store; returns the exit code. */
export async function moveDatabase({ from, to }: MoveTask, json: boolean, io: CommandIo): Promise<number> {
	let reportedAt = Date.now();
	const onProgress = (size: StoreSize): void => {
		if (Date.now() - reportedAt < quiet) return;
		reportedAt = Date.now();
		io.stderr.write(`${contents(size)} so far\n`);
	};
	let moved: Moved;
	if (isServer(from)) moved = await moveToFile({ connectionString: from }, to, onProgress);
	else {
		requireDatabase(from);
		moved = await moveToServer(from, { connectionString: to }, onProgress);
	}
	const { size, left } = moved;
	copySettings(from, to);
	const places = { from: shownDatabase(from), to: shownDatabase(to), left };
	printReport(io, json, { type: "move", ...places, ...rowsOf(size), bytes: bytesOf(size) }, [
		`Moved ${contents(size)}.`,
		isServer(from)
			? `The old data is still in the schema ${left}, which nothing uses. Drop it when you no longer need it; to go back, rename it to holdfast.`
			: `The old data is still in ${shown(left, io)}, which nothing uses. Remove it when you no longer need it; to go back, rename it.`,
		"The number of rows, and every byte in them, was counted again at the destination.",
	]);
	return exitCodes.completed;
}

function rowsOf(size: StoreSize): object {
	return Object.fromEntries(Object.entries(size).map(([table, { rows }]) => [table, rows]));
}

function bytesOf(size: StoreSize): number {
	return Object.values(size).reduce((sum, { bytes }) => sum + bytes, 0);
}

function contents(size: StoreSize): string {
	const { sessions, entries, inputs, values, records, timers, files } = size;
	const beside = [
		counted(inputs.rows, "input"),
		counted(values.rows, "value"),
		counted(records.rows, "record"),
		counted(timers.rows, "timer"),
		counted(files.rows, "file"),
	];
	return `${counted(sessions.rows, "session")} with ${counted(entries.rows, "entry", "entries")}, ${beside.join(", ")}: ${formatBytes(bytesOf(size))}`;
}

// Describes an error in a result, with frames of the guest's own modules only.
import type { OriginalColumns } from "./erase-types.ts";
import { guestFile } from "./guest.ts";
import type { CodeExecutionError } from "./types.ts";

/** An error, and whether it means that memory ran out. */
export interface Failure {
	readonly error: CodeExecutionError;
	readonly isMemory: boolean;
}

interface Place {
	readonly line?: number | undefined;
	readonly column?: number | undefined;
}

/** Prefix of the host functions that the guest's side calls. */
const native = "holdfast_";
const frame = /^\s*at (?:.*\()?(.+?):(\d+):(\d+)\)?$/;

/** Parses the guest's description of an error. Maps its columns back to the sources if they differ. */
export function describeFailure(
	text: string,
	files: ReadonlyMap<string, OriginalColumns | undefined>,
): Failure {
	const [name, message, stack, isMemory] = JSON.parse(text) as [string, string, string, boolean];
	const frames = stack
		.split("\n")
		.filter((line) => line.trim() !== "" && !line.includes(guestFile) && !line.includes(native))
		.map((line) => originalFrame(line, files));
	const found = frames
		.map((line) => frame.exec(line))
		.find((match) => match !== null && files.has(match[1] ?? ""));
	const place =
		found === undefined || found === null ? {} : { line: Number(found[2]), column: Number(found[3]) };
	return {
		error: {
			name,
			message,
			...(frames.length > 0 && { stack: frames.join("\n") }),
			...(found?.[1] !== undefined && { filename: found[1] }),
			...place,
		},
		isMemory,
	};
}

function originalFrame(text: string, files: ReadonlyMap<string, OriginalColumns | undefined>): string {
	const [, file = "", line, column] = frame.exec(text) ?? [];
	const columns = files.get(file);
	if (columns === undefined) return text;
	const end = `:${line}:${column}`;
	const at = text.lastIndexOf(end);
	const moved = columns(Number(line), Number(column));
	return `${text.slice(0, at)}:${line}:${moved}${text.slice(at + end.length)}`;
}

/** Creates a failure that occurred before any code ran. */
export function linkFailure(
	name: string,
	message: string,
	specifier: string,
	{ line, column }: Place,
): Failure {
	return {
		error: {
			name,
			message,
			specifier,
			...(line !== undefined && { filename: specifier, line }),
			...(column !== undefined && { column }),
		},
		isMemory: false,
	};
}

/**
 * The effect of a `write_file` or `edit_file` call on a file: computed before the approval, and again when it runs. The
 * hashes of both versions identify what was approved; nothing else is ever written.
 */
import { createHash } from "node:crypto";
import { counted, grouped, ToolRefusal, textArgument } from "./assistant-tool.ts";
import { type PlaceToWrite, placeToWrite } from "./place-to-write.ts";
import { unreadable } from "./root.ts";
import { LARGEST_TEXT_FILE, readBytes } from "./text-files.ts";

/** The tools that change files. */
const changingTools = ["write_file", "edit_file"] as const;
export type ChangingTool = (typeof changingTools)[number];

/** A file before and after a change, by the SHA-256 of its bytes; null if the file does not exist. */
export interface Versions {
	readonly before: string | null;
	readonly after: string;
}

/** A planned change. */
export interface PlannedChange {
	readonly place: PlaceToWrite;
	/** Undefined if the file does not exist yet. */
	readonly before: string | undefined;
	readonly after: string;
	readonly versions: Versions;
	/** The message after the change. */
	readonly done: string;
}

/** Maximum bytes of a file before and after a change: the approver has to read the change. */
const LARGEST_CHANGED_FILE: number = 2 * 1024 * 1024;

/** Whether a tool of this name changes files. */
export function isChangingTool(name: string): name is ChangingTool {
	return changingTools.includes(name as ChangingTool);
}

/** Computes the effect of a call on its file, or rejects it with a reason. */
export async function planChange(
	root: string,
	tool: ChangingTool,
	params: Readonly<Record<string, unknown>>,
): Promise<PlannedChange> {
	const place = await placeOf(root, params);
	const before = await currentText(place);
	const { after, done } =
		tool === "write_file" ? written(place, before, params) : edited(place, before, params);
	const size = Buffer.byteLength(after);
	if (size > LARGEST_CHANGED_FILE) throw tooLarge(place, size);
	const versions = { before: before === undefined ? null : hashOf(before), after: hashOf(after) };
	return { place, before, after, versions, done };
}

/** Resolves the path that a call names. */
export function placeOf(root: string, params: Readonly<Record<string, unknown>>): Promise<PlaceToWrite> {
	return placeToWrite(root, required(params, "path"));
}

/** Returns the hash of the current file; null if it does not exist. */
export async function currentVersion(place: PlaceToWrite): Promise<string | null> {
	try {
		return createHash("sha256")
			.update(await readBytes(place, LARGEST_TEXT_FILE))
			.digest("hex");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

async function currentText(place: PlaceToWrite): Promise<string | undefined> {
	if (place.kind === "nothing") return undefined;
	if (place.size > LARGEST_CHANGED_FILE) throw tooLarge(place, place.size);
	const bytes = await readBytes(place, LARGEST_CHANGED_FILE).catch((error: NodeJS.ErrnoException) => {
		throw unreadable(place.relative, error);
	});
	try {
		// The byte order mark belongs to the file; invalid UTF-8 would be written back changed.
		const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
		if (!text.includes("\0")) return text;
	} catch {}
	throw new ToolRefusal(
		"file_not_text",
		`"${place.relative}" is not UTF-8 text; only text files can be changed.`,
	);
}

type After = Pick<PlannedChange, "after" | "done">;

function written(
	{ relative }: PlaceToWrite,
	before: string | undefined,
	params: Readonly<Record<string, unknown>>,
): After {
	const after = required(params, "content");
	if (after.includes("\0"))
		throw new ToolRefusal("tool_input_invalid", '"content" contains a NUL character; only text is written.');
	const lines = after === "" ? 0 : after.split("\n").length - (after.endsWith("\n") ? 1 : 0);
	const done = `${before === undefined ? "Created" : "Wrote"} ${relative}: ${counted(lines, "line")}.`;
	return { after, done };
}

function edited(
	{ relative }: PlaceToWrite,
	before: string | undefined,
	params: Readonly<Record<string, unknown>>,
): After {
	if (before === undefined)
		throw new ToolRefusal("path_not_found", `"${relative}" does not exist. Create it with write_file.`);
	const find = withLineEndsOf(before, required(params, "find"));
	const replace = withLineEndsOf(before, required(params, "replace"));
	if (find === "") throw new ToolRefusal("tool_input_invalid", '"find" is empty: give the text to replace.');
	const places = placesOf(before, find);
	if (places.length === 0)
		throw new ToolRefusal(
			"text_not_found",
			`"find" is not in "${relative}". It has to match exactly, with spaces and indentation, and without the line ` +
				"numbers and tabs that read_file puts before each line. Read the file again.",
		);
	if (params.all === true) {
		const after = before.split(find).join(replace);
		return {
			after,
			done: `Edited ${relative}: ${counted(before.split(find).length - 1, "place")} replaced.`,
		};
	}
	const [at = 0] = places;
	if (places.length > 1)
		throw new ToolRefusal(
			"text_not_unique",
			`"find" is in "${relative}" more than once (${linesOf(before, places)}). Give more of the text around it, or set ` +
				'"all" to replace every one.',
		);
	return {
		after: before.slice(0, at) + replace + before.slice(at + find.length),
		done: `Edited ${relative}: 1 place replaced.`,
	};
}

/** Returns all occurrences, including overlapping ones: overlapping text is not unique. */
function placesOf(text: string, find: string): number[] {
	const places: number[] = [];
	for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + 1)) places.push(at);
	return places;
}

function linesOf(text: string, places: readonly number[]): string {
	const numbers = places.slice(0, 5).map((at) => text.slice(0, at).split("\n").length);
	const shown = [...new Set(numbers)].join(", ");
	return `lines ${shown}${places.length > 5 ? ` and ${places.length - 5} more` : ""}`;
}

/** The model does not see line ends: in a file with CR LF, its text gets them too. */
function withLineEndsOf(file: string, given: string): string {
	return endsWithReturns(file) ? given.replaceAll(/\r?\n/g, "\r\n") : given;
}

/** Whether all lines of a text end with CR LF. */
export function endsWithReturns(text: string): boolean {
	return text.includes("\r\n") && !/(?:^|[^\r])\n/.test(text);
}

function required(params: Readonly<Record<string, unknown>>, name: string): string {
	const value = textArgument(params, name);
	if (value === undefined) throw new ToolRefusal("tool_input_invalid", `"${name}" is missing.`);
	return value;
}

function tooLarge({ relative }: PlaceToWrite, size: number): ToolRefusal {
	return new ToolRefusal(
		"file_too_large",
		`"${relative}" has, or would have, ${grouped(size)} bytes; the limit for changes is ${grouped(LARGEST_CHANGED_FILE)}.`,
	);
}

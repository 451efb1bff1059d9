// The tool `read_result`: reads a part of a stored result, or searches it. Its own results never exceed the limit above
// which results are stored.
import { type AnyTool, tool } from "holdfast";
import type { SessionFiles } from "holdfast/host";
import { resultRangeInvalid } from "./result-errors.ts";
import { grouped } from "./shown-result.ts";
import {
	lineAt,
	lineEnds,
	openResult,
	piecesFrom,
	readCharacters,
	type StoredResult,
	startOfLine,
	wholeCharacter,
} from "./stored-result.ts";

interface ReadResultInput {
	readonly id: string;
	readonly startLine?: number;
	readonly endLine?: number;
	readonly startCharacter?: number;
	readonly endCharacter?: number;
	readonly search?: string;
}

/** Characters of a result of the tool that its own notes may take. */
const noteLength = 500;
const mostMatches = 20;
const aroundMatch = 100;
const longestSearch = 200;

const whole = (minimum: number, description: string) => ({ type: "integer", minimum, description }) as const;

/** Creates the tool. `filesOf` returns the files of the session or call that a context belongs to. */
export function readResult(
	filesOf: (context: { readonly sessionKey?: string; readonly runId: string }) => SessionFiles,
	limit: number,
): AnyTool {
	return tool<ReadResultInput>({
		name: "read_result",
		description:
			"Reads a part of a long tool result that was stored, by lines or by characters, or searches it for a text.",
		parameters: {
			type: "object",
			properties: {
				id: { type: "string", description: "The id from the note of the long result." },
				startLine: whole(1, "First line to read. Lines are numbered from 1."),
				endLine: whole(1, "Last line to read."),
				startCharacter: whole(0, "Offset of the first character to read, from 0."),
				endCharacter: whole(0, "Offset after the last character to read."),
				search: {
					type: "string",
					minLength: 1,
					maxLength: longestSearch,
					description: "Text to find, ignoring case. Returns the positions, from the given start on.",
				},
			},
			required: ["id"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		// `limit` limits it.
		maxModelCharacters: Number.POSITIVE_INFINITY,
		async run(input, context) {
			const files = filesOf(context);
			checkRange(input);
			const stored = await openResult(files, input.id);
			const start = await startOf(files, stored, input);
			if (input.search !== undefined) return found(files, stored, input.search, start, limit);
			return part(files, stored, input, start, limit - noteLength);
		},
	});
}

/** @throws HoldfastError `result_range_invalid`. */
function checkRange({ startLine, endLine, startCharacter, endCharacter, search }: ReadResultInput): void {
	if ((startLine ?? endLine) !== undefined && (startCharacter ?? endCharacter) !== undefined)
		throw resultRangeInvalid("Give lines or characters, not both.");
	if (search !== undefined && (endLine ?? endCharacter) !== undefined)
		throw resultRangeInvalid("A search cannot have an end: give `startLine` or `startCharacter` only.");
	if (endLine !== undefined && endLine < (startLine ?? 1))
		throw resultRangeInvalid("`endLine` is before `startLine`.");
	if (endCharacter !== undefined && endCharacter < (startCharacter ?? 0))
		throw resultRangeInvalid("`endCharacter` is before `startCharacter`.");
}

async function startOf(files: SessionFiles, stored: StoredResult, input: ReadResultInput): Promise<number> {
	if (input.startLine !== undefined) return startOfLine(files, stored, input.startLine);
	return input.startCharacter ?? 0;
}

async function part(
	files: SessionFiles,
	stored: StoredResult,
	{ endLine, endCharacter }: ReadResultInput,
	start: number,
	most: number,
): Promise<string> {
	const wanted = endLine === undefined ? endCharacter : await startOfLine(files, stored, endLine + 1);
	const until = Math.min(wanted ?? stored.characters, start + most, stored.characters);
	const given = await readCharacters(files, stored, start, until);
	const text = given.text.slice(
		0,
		until < (wanted ?? stored.characters) ? wholeCharacter(given.text, given.text.length) : undefined,
	);
	const end = given.start + text.length;
	const line = await lineAt(files, stored, given.start);
	const last = line + lineEnds(text.endsWith("\n") ? text.slice(0, -1) : text);
	const rest = end < stored.characters ? ` Continue with startCharacter ${end}.` : " This is the end.";
	return `[Characters ${given.start} to ${end} of ${grouped(stored.characters)}, lines ${line} to ${last} of ${grouped(stored.lines)}.${rest}]\n${text}`;
}

async function found(
	files: SessionFiles,
	stored: StoredResult,
	search: string,
	from: number,
	limit: number,
): Promise<string> {
	const pattern = new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "giu");
	const places: string[] = [];
	let room = limit - noteLength;
	/** The end of the text before the piece, so that matches across two pieces are found. */
	let kept = "";
	for await (const { text, at, line } of piecesFrom(files, stored, from)) {
		const searched = kept + text;
		const offset = at - kept.length;
		let [counted, lineHere] = [0, line - lineEnds(kept)];
		for (const match of searched.matchAll(pattern)) {
			const start = offset + match.index;
			const isNew = match.index + match[0].length > kept.length;
			if (!isNew || start < from) continue;
			lineHere += lineEnds(searched.slice(counted, match.index));
			counted = match.index;
			const place = `line ${lineHere}, character ${start}: ${excerpt(searched, match.index, match[0].length)}`;
			if (places.length === mostMatches || place.length > room)
				return `[First ${places.length} matches. Search on with startCharacter ${start}.]\n${places.join("\n")}`;
			places.push(place);
			room -= place.length + 1;
		}
		kept = searched.slice(-(longestSearch + aroundMatch));
	}
	if (places.length === 0) return `[No match for ${JSON.stringify(search)} after character ${from}.]`;
	return `[${places.length} ${places.length === 1 ? "match" : "matches"}.]\n${places.join("\n")}`;
}

/** Returns a match with the text around it, in one line. */
function excerpt(text: string, at: number, length: number): string {
	const start = wholeCharacter(text, Math.max(0, at - aroundMatch));
	const end = wholeCharacter(text, Math.min(text.length, at + length + aroundMatch));
	return text.slice(start, end).replaceAll(/\s+/g, " ").trim();
}

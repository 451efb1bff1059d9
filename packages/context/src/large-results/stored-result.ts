// A stored result: one file with a line of JSON, the header, followed by the text in UTF-8. The header holds an index of
// the text, so that any part of a text of any size is read without what precedes it.
import type { FileInfo, SessionFiles } from "holdfast/host";
import { resultNotFound } from "./result-errors.ts";

/** A part of the text of at most `blockLength` characters. */
interface Block {
	/** Characters before it. */
	readonly characters: number;
	/** Bytes before it. */
	readonly bytes: number;
	/** Line ends before it. */
	readonly lines: number;
}

/** A result that was stored. */
export interface StoredResult {
	readonly id: string;
	/** Total number of characters, in UTF-16 code units. */
	readonly characters: number;
	/** Total number of lines. */
	readonly lines: number;
	readonly bytes: number;
	readonly blocks: readonly Block[];
	/** Offset of the text in the file, in bytes. */
	readonly textAt: number;
}

/** A part of a text. */
export interface ResultPart {
	readonly text: string;
	/** Offset of its first character. */
	readonly start: number;
	/** Offset after its last character. */
	readonly end: number;
}

const blockLength = 65_536;
const version = 1;

/** Stores a text under an id, replacing an earlier one. Reads the text once and copies it once. */
export async function storeResult(files: SessionFiles, id: string, text: string): Promise<FileInfo> {
	const encoder = new TextEncoder();
	const blocks: [number, number, number][] = [];
	const pieces: Uint8Array[] = [];
	let [bytes, lines] = [0, 0];
	for (let at = 0; at < text.length; ) {
		const end = wholeCharacter(text, Math.min(text.length, at + blockLength));
		blocks.push([at, bytes, lines]);
		const block = text.slice(at, end);
		const piece = encoder.encode(block);
		pieces.push(piece);
		bytes += piece.length;
		lines += lineEnds(block);
		at = end;
	}
	const header = { version, characters: text.length, lines: lines + 1, bytes, blocks };
	return files.write(id, [encoder.encode(`${JSON.stringify(header)}\n`), ...pieces]);
}

/** Opens a stored result. Rejects with `result_not_found`. */
export async function openResult(files: SessionFiles, id: string): Promise<StoredResult> {
	const info = await files.stat(id);
	if (info === undefined) throw resultNotFound(id);
	const decoder = new TextDecoder();
	let line = "";
	let textAt = 0;
	for await (const piece of files.read(id)) {
		const end = piece.indexOf(10);
		line += decoder.decode(end < 0 ? piece : piece.subarray(0, end), { stream: true });
		textAt += end < 0 ? piece.length : end + 1;
		if (end >= 0) break;
	}
	const header = JSON.parse(line) as Omit<StoredResult, "blocks"> & {
		readonly blocks: readonly (readonly [number, number, number])[];
	};
	const blocks = header.blocks.map(([characters, bytes, lines]): Block => ({ characters, bytes, lines }));
	return { id, characters: header.characters, lines: header.lines, bytes: header.bytes, blocks, textAt };
}

/** Reads characters from an offset up to another one. Reads at most two blocks more than that. */
export async function readCharacters(
	files: SessionFiles,
	stored: StoredResult,
	from: number,
	until: number,
): Promise<ResultPart> {
	const start = Math.min(Math.max(0, from), stored.characters);
	const end = Math.min(Math.max(start, until), stored.characters);
	const first = lastWhere(stored.blocks, ({ characters }) => characters <= start);
	const last = lastWhere(stored.blocks, ({ characters }) => characters < end);
	if (end === start || first === undefined) return { text: "", start, end };
	let text = "";
	for await (const each of textFrom(files, stored, first, endOf(stored, last))) text += each;
	const before = blockAt(stored, first).characters;
	return { text: text.slice(start - before, end - before), start, end };
}

/** Returns the offset of the first character of a line, from 1 on; the end of the text if it has fewer lines. */
export async function startOfLine(files: SessionFiles, stored: StoredResult, line: number): Promise<number> {
	if (line <= 1) return 0;
	if (line > stored.lines) return stored.characters;
	const block = lastWhere(stored.blocks, ({ lines }) => lines < line - 1) ?? 0;
	let { characters: at, lines } = blockAt(stored, block);
	for await (const text of textFrom(files, stored, block)) {
		for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1))
			if (++lines === line - 1) return at + end + 1;
		at += text.length;
	}
	return stored.characters;
}

/** Returns the number of the line that contains an offset, from 1 on. */
export async function lineAt(files: SessionFiles, stored: StoredResult, offset: number): Promise<number> {
	const block = lastWhere(stored.blocks, ({ characters }) => characters <= offset) ?? 0;
	const { characters, lines } = blockAt(stored, block);
	const { text } = await readCharacters(files, stored, characters, offset);
	return lines + lineEnds(text) + 1;
}

/** Yields the text from the block that contains an offset on, with the offset and the line of each piece. */
export async function* piecesFrom(
	files: SessionFiles,
	stored: StoredResult,
	offset: number,
): AsyncGenerator<{ readonly text: string; readonly at: number; readonly line: number }, void, void> {
	const block = lastWhere(stored.blocks, ({ characters }) => characters <= offset) ?? 0;
	let { characters: at, lines } = blockAt(stored, block);
	for await (const text of textFrom(files, stored, block)) {
		yield { text, at, line: lines + 1 };
		at += text.length;
		lines += lineEnds(text);
	}
}

/** Counts the line ends in a text. */
export function lineEnds(text: string): number {
	let count = 0;
	for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
	return count;
}

/** Returns the offset, or the one before it if it would separate the halves of a character. */
export function wholeCharacter(text: string, offset: number): number {
	const before = text.charCodeAt(offset - 1);
	const after = text.charCodeAt(offset);
	const separates = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
	return separates ? offset - 1 : offset;
}

async function* textFrom(
	files: SessionFiles,
	stored: StoredResult,
	block: number,
	endByte: number = stored.bytes,
): AsyncGenerator<string, void, void> {
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	const start = stored.textAt + blockAt(stored, block).bytes;
	for await (const piece of files.read(stored.id, { start, end: stored.textAt + endByte }))
		yield decoder.decode(piece, { stream: true });
	yield decoder.decode();
}

function blockAt({ blocks }: StoredResult, index: number): Block {
	return blocks[index] ?? { characters: 0, bytes: 0, lines: 0 };
}

function endOf({ blocks, bytes }: StoredResult, block: number | undefined): number {
	return blocks[(block ?? 0) + 1]?.bytes ?? bytes;
}

/** Returns the index of the last block that satisfies a condition, which holds for a beginning of the list. */
function lastWhere(blocks: readonly Block[], holds: (block: Block) => boolean): number | undefined {
	let [low, high] = [0, blocks.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (holds(blocks[middle] as Block)) low = middle + 1;
		else high = middle;
	}
	return low === 0 ? undefined : low - 1;
}

// What the model sees of a stored result: its size, its id, its beginning and its end.
import { type ContentBlock, isContentBlock } from "@holdfast/upp";
import { lineEnds, wholeCharacter } from "./stored-result.ts";

/** How much of a result is shown, in characters. */
export interface ShownLengths {
	readonly head: number;
	readonly tail: number;
}

/** Returns a result as text: a text itself, the texts between files, data as JSON in lines. Undefined if it has no text. */
export function textOfResult(output: unknown): string | undefined {
	if (typeof output === "string") return output;
	if (typeof output !== "object" || output === null) return undefined;
	if (!isContent(output)) return JSON.stringify(output, undefined, 1);
	const texts = output.flatMap((block) => (block.type === "text" ? [block.text] : []));
	return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** Returns a result with another text. Its files remain, because the model must receive them unchanged. */
export function withText(output: unknown, text: string): unknown {
	const files = isContent(output) ? output.filter(({ type }) => type !== "text") : [];
	return files.length === 0 ? text : [{ type: "text", text }, ...files];
}

function isContent(output: unknown): output is readonly ContentBlock[] {
	return Array.isArray(output) && output.length > 0 && output.every(isContentBlock);
}

/** Returns what the model sees of a result that is stored under an id. */
export function shownResult(id: string, text: string, { head, tail }: ShownLengths): string {
	const headEnd = wholeCharacter(text, head);
	const tailStart = wholeCharacter(text, text.length - tail);
	const lines = lineEnds(text) + 1;
	const note = `[This result is long: ${grouped(text.length)} characters in ${grouped(lines)} ${lines === 1 ? "line" : "lines"}. Read or search it with read_result and the id ${JSON.stringify(id)}.]`;
	const omitted = `[Characters ${headEnd} to ${tailStart} are not shown.]`;
	return [note, text.slice(0, headEnd), omitted, text.slice(tailStart)].join("\n");
}

/** Returns a number with separators between thousands. */
export function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// What the model sees of a stored result: its size, its id, its beginning and its end.
import { isContentBlock } from "@holdfast/upp";
import { lineEnds, wholeCharacter } from "./stored-result.ts";

/** How much of a result is shown, in characters. */
export interface ShownLengths {
	readonly head: number;
	readonly tail: number;
}

/**
 * Returns a result as text: a text itself, data as JSON in lines. Undefined for results that the model must receive as
 * they are, because they contain files or binary data.
 */
export function textOfResult(output: unknown): string | undefined {
	if (typeof output === "string") return output;
	if (typeof output !== "object" || output === null) return undefined;
	if (Array.isArray(output) && output.length > 0 && output.every(isContentBlock)) {
		const texts = output.map((block) => (block.type === "text" ? block.text : undefined));
		return texts.includes(undefined) ? undefined : texts.join("\n\n");
	}
	return JSON.stringify(output, undefined, 1);
}

/** Returns what the model sees of a result that is stored under an id. */
export function shownResult(id: string, text: string, { head, tail }: ShownLengths): string {
	const headEnd = wholeCharacter(text, head);
	const tailStart = wholeCharacter(text, text.length - tail);
	const lines = lineEnds(text) + 1;
	const note = `[This result is long: ${grouped(text.length)} characters in ${grouped(lines)} ${lines === 1 ? "line" : "lines"}. Only its beginning and its end are shown. Read or search the rest with read_result and the id ${JSON.stringify(id)}.]`;
	const omitted = `[Characters ${headEnd} to ${tailStart} are not shown.]`;
	return [note, text.slice(0, headEnd), omitted, text.slice(tailStart)].join("\n");
}

/** Returns a number with separators between thousands. */
export function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

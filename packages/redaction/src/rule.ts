// The result of a rule at a position in a text.
import type { MaskType } from "./mask.ts";

/** Start and end of a match. The text after its end is masked too, up to the end of `rest`. */
export interface Hit {
	readonly start: number;
	readonly end: number;
	readonly type: MaskType;
	readonly rest?: Rest;
}

/** The rest of a match that is already masked: it is dropped piece by piece, so that it need not be held. */
export interface Rest {
	/** Sticky. Its matches are dropped. It matches the same characters wherever the text is cut. */
	readonly part: RegExp;
	/** Sticky: matches the end, which is dropped as well. */
	readonly last?: RegExp;
	/** Sticky: matches text that the next piece may complete to either. Shorter than `lookAhead` of the scanner. */
	readonly unsure?: RegExp;
}

/** A position in a text. */
export interface Place {
	readonly text: string;
	/** Position of the trigger. */
	readonly at: number;
	/** Text before this position is not examined: it was masked, or is no longer available. */
	readonly floor: number;
	/** Whether the text is complete. If not, a rule that depends on what follows returns `more`. */
	readonly isWhole: boolean;
}

export type Answer = Hit | "more" | undefined;

const wordLike = /[A-Za-z0-9_]/;

/** Whether a word may start here: masked text counts as a border. */
export function startsHere({ text, at, floor }: Place): boolean {
	return at <= floor || !wordLike.test(text[at - 1] as string);
}

/** Whether a sticky pattern matches at a position. */
export function isAt(pattern: RegExp, text: string, at: number): boolean {
	pattern.lastIndex = at;
	return pattern.test(text);
}

/** Returns the end of the run of characters that a sticky pattern matches. */
export function endOfRun(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}

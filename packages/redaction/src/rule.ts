// The answer of a rule about a position in a text.
import type { MaskType } from "./mask.ts";

/** The start and the end of a hit. Text after its end is masked too, as far as `rest` reaches. */
export interface Hit {
	readonly start: number;
	readonly end: number;
	readonly type: MaskType;
	readonly rest?: Rest;
}

/** The rest of something that is masked already: it is dropped piece by piece, so that nothing of it has to be held. */
export interface Rest {
	/** Sticky. Its matches are dropped. It matches the same characters wherever the text is cut. */
	readonly part: RegExp;
	/** Sticky: the end, dropped as well. */
	readonly last?: RegExp;
	/** Sticky: what may become more of either with the next piece. Shorter than `lookAhead` of the scanner. */
	readonly unsure?: RegExp;
}

/** A place in a text. */
export interface Place {
	readonly text: string;
	/** Where the trigger was found. */
	readonly at: number;
	/** Text before this position is not examined: it was masked, or is no longer available. */
	readonly floor: number;
	/** Whether the text ends where it ends. If not, a rule that needs to know what follows answers `more`. */
	readonly isWhole: boolean;
}

export type Answer = Hit | "more" | undefined;

const wordLike = /[A-Za-z0-9_]/;

/** Whether a word may begin here: what was masked counts as a border. */
export function startsHere({ text, at, floor }: Place): boolean {
	return at <= floor || !wordLike.test(text[at - 1] as string);
}

/** Whether a sticky pattern matches at a place. */
export function isAt(pattern: RegExp, text: string, at: number): boolean {
	pattern.lastIndex = at;
	return pattern.test(text);
}

/** Where the run of characters that a sticky pattern matches ends. */
export function endOfRun(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}

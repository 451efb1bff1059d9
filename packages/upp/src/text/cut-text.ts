// The only function that shortens text: it never splits a character.

/**
 * Returns the beginning of a text, at most `most` UTF-16 code units long. A surrogate pair at the limit is left out
 * completely, so the result never contains half of a pair.
 */
export function cutText(text: string, most: number): string {
	if (text.length <= most) return text;
	return text.slice(0, splitsPair(text, most) ? most - 1 : most);
}

/** Whether a cut at this index separates the halves of a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
	return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}

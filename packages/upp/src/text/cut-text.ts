// The one function that shortens text: it never splits a character.

/**
 * The beginning of a text, at most `most` UTF-16 code units long. A surrogate pair at the limit is left out whole, so the
 * result contains no half of a character that the text does not contain.
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

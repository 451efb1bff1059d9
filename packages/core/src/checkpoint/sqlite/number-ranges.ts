// Lists of numbers as short text, `1-40,57,41-56`: items appended in order are one range of any length.

/** Encodes numbers in the given order, as ranges. */
export function toRanges(numbers: readonly number[]): string {
	const ranges: string[] = [];
	for (let at = 0; at < numbers.length; ) {
		const first = numbers[at] as number;
		let length = 1;
		while (numbers[at + length] === first + length) length++;
		ranges.push(length === 1 ? `${first}` : `${first}-${first + length - 1}`);
		at += length;
	}
	return ranges.join(",");
}

/** Returns the first and last number of each range; undefined for text that `toRanges` did not write. */
export function readRanges(text: string): readonly (readonly [number, number])[] | undefined {
	if (text === "") return [];
	if (!/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/.test(text)) return undefined;
	return text.split(",").map((range) => {
		const [first, last = first] = range.split("-").map(Number) as [number, number?];
		return [first, last];
	});
}

// Event ids are numbers joined by dots and ordered as tuples. Only the order is used here; the meaning of the numbers is
// internal to the service.

const pattern = /^\d{1,16}(?:\.\d{1,16}){0,3}$/;

/** Whether a string can be an id; only the service can decide whether it is one. */
export function looksLikeEventId(text: string): boolean {
	return pattern.test(text);
}

/** Negative if `left` comes first, positive if `right` does, 0 for the same position. */
export function compareEventIds(left: string, right: string): number {
	if (left === right) return 0;
	const [first, second] = [left.split("."), right.split(".")];
	for (let at = 0; at < Math.max(first.length, second.length); at++) {
		const difference = Number(first[at] ?? 0) - Number(second[at] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

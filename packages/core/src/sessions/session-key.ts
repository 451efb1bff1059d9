// Where a session stands in the store. A key without a namespace stands as it is; whatever else there is begins with
// NUL, so that no key a caller may choose, however hostile, reaches another's place.

const mark = "\u0000";

/** The place of a caller's key. The same namespace and key give the same place after reconstruction. */
export function sessionPlace(namespace: string | undefined, key: string): string {
	if (namespace !== undefined) return `${mark}ns${mark}${namespace.length}${mark}${namespace}${mark}${key}`;
	return key.startsWith(mark) ? `${mark}key${mark}${key}` : key;
}

/** What all places of a session's child sessions begin with. */
export function childPrefix(parentPlace: string): string {
	return `${mark}sub${mark}${parentPlace.length}${mark}${parentPlace}${mark}`;
}

/** The place of a child session: always inside its parent's and sub-agent's scope, whatever the suffix says. */
export function childPlace(parentPlace: string, subagent: string, suffix: string): string {
	return `${childPrefix(parentPlace)}${subagent.length}${mark}${subagent}${mark}${suffix}`;
}

// Where a session stands in the store. A key without a namespace stands as it is; whatever else there is begins with
// NUL, so that no key a caller may choose, however hostile, reaches another's place.

const mark = "\u0000";

/** Under which keys an agent's sessions are in the store. One session key has one store key, and the other way round. */
export interface SessionKeys {
	storeKeyOf(sessionKey: string): string;
	/** Undefined for sessions of others. */
	keyOf(storeKey: string): string | undefined;
}

/** The place of a caller's key. The same namespace and key give the same place after reconstruction. */
export function sessionPlace(namespace: string | undefined, key: string): string {
	if (namespace !== undefined) return `${mark}ns${mark}${namespace.length}${mark}${namespace}${mark}${key}`;
	return key.startsWith(mark) ? `${mark}key${mark}${key}` : key;
}

/** What all places of a session's child sessions begin with; without a session, of all child sessions. */
export function childPrefix(parentPlace?: string): string {
	const prefix = `${mark}sub${mark}`;
	return parentPlace === undefined ? prefix : `${prefix}${parentPlace.length}${mark}${parentPlace}${mark}`;
}

/** The place of a child session: always inside its parent's and sub-agent's scope, whatever the suffix says. */
export function childPlace(parentPlace: string, subagent: string, suffix: string): string {
	return `${childPrefix(parentPlace)}${subagent.length}${mark}${subagent}${mark}${suffix}`;
}

/** The key of a place that `sessionPlace` gave for this namespace; undefined for the places of others. */
export function keyOfPlace(namespace: string | undefined, place: string): string | undefined {
	const prefix = sessionPlace(namespace, "");
	if (namespace !== undefined) return place.startsWith(prefix) ? place.slice(prefix.length) : undefined;
	if (!place.startsWith(mark)) return place;
	const escaped = `${mark}key${mark}`;
	return place.startsWith(escaped) ? place.slice(escaped.length) : undefined;
}

/** The key and namespace of a place; child sessions are known by their place. */
export function readPlace(place: string): { readonly key: string; readonly namespace?: string } {
	const start = `${mark}ns${mark}`;
	const namespace = place.startsWith(start) ? readCounted(place, start.length) : undefined;
	if (namespace !== undefined) return { key: place.slice(namespace.end), namespace: namespace.text };
	return { key: keyOfPlace(undefined, place) ?? place };
}

/** What a place that `childPlace` gave is made of; undefined for others. */
export function readChildPlace(
	place: string,
): { readonly parentPlace: string; readonly subagent: string; readonly suffix: string } | undefined {
	const start = `${mark}sub${mark}`;
	if (!place.startsWith(start)) return undefined;
	const parent = readCounted(place, start.length);
	const subagent = parent && readCounted(place, parent.end);
	if (subagent === undefined) return undefined;
	return { parentPlace: parent?.text ?? "", subagent: subagent.text, suffix: place.slice(subagent.end) };
}

/** Reads `<length>NUL<text>NUL`. */
function readCounted(
	place: string,
	from: number,
): { readonly text: string; readonly end: number } | undefined {
	const at = place.indexOf(mark, from);
	const length = Number(place.slice(from, at));
	if (at < 0 || !Number.isInteger(length)) return undefined;
	const end = at + 1 + length;
	return place[end] === mark ? { text: place.slice(at + 1, end), end: end + 1 } : undefined;
}

/** The keys of agents of one namespace, or of none. */
export function keysOf(namespace: string | undefined): SessionKeys {
	return {
		storeKeyOf: (sessionKey) => sessionPlace(namespace, sessionKey),
		keyOf: (storeKey) => keyOfPlace(namespace, storeKey),
	};
}

/** The namespace that a place belongs to, that of its root where it is a child session's. */
export function namespaceOf(place: string): string | undefined {
	const child = readChildPlace(place);
	return child === undefined ? readPlace(place).namespace : namespaceOf(child.parentPlace);
}

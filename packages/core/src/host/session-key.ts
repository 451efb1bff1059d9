// The store key of a session. A key without a namespace is its own store key. Every other store key begins with NUL, so
// that no key chosen by a caller, however malicious, is another session's store key.

const mark = "\u0000";

/** Maps an agent's session keys to store keys. The mapping is one-to-one. */
export interface SessionKeys {
	/** Returns the key under which the store keeps a session. */
	storeKeyOf(sessionKey: string): string;
	/** Returns undefined for sessions of others. */
	keyOf(storeKey: string): string | undefined;
}

/** Returns the store key of a caller's key. The same namespace and key always produce the same store key. */
export function storeKeyOf(namespace: string | undefined, key: string): string {
	if (namespace !== undefined) return `${mark}ns${mark}${namespace.length}${mark}${namespace}${mark}${key}`;
	return key.startsWith(mark) ? `${mark}key${mark}${key}` : key;
}

/** Returns the prefix of the store keys of all child sessions of a session; without a session, of all child sessions. */
export function childPrefix(parentStoreKey?: string): string {
	const prefix = `${mark}sub${mark}`;
	return parentStoreKey === undefined
		? prefix
		: `${prefix}${parentStoreKey.length}${mark}${parentStoreKey}${mark}`;
}

/** Returns the store key of a child session. It is always within its parent's and sub-agent's scope, for every suffix. */
export function childStoreKey(parentStoreKey: string, subagent: string, suffix: string): string {
	return `${childPrefix(parentStoreKey)}${subagent.length}${mark}${subagent}${mark}${suffix}`;
}

/** Returns the key from which `storeKeyOf` created a store key in this namespace; undefined for others. */
function sessionKeyOf(namespace: string | undefined, storeKey: string): string | undefined {
	const prefix = storeKeyOf(namespace, "");
	if (namespace !== undefined) return storeKey.startsWith(prefix) ? storeKey.slice(prefix.length) : undefined;
	if (!storeKey.startsWith(mark)) return storeKey;
	const escaped = `${mark}key${mark}`;
	return storeKey.startsWith(escaped) ? storeKey.slice(escaped.length) : undefined;
}

/** Returns the key and namespace of a store key. Child sessions are identified by their store key. */
export function readStoreKey(storeKey: string): { readonly key: string; readonly namespace?: string } {
	const start = `${mark}ns${mark}`;
	const namespace = storeKey.startsWith(start) ? readCounted(storeKey, start.length) : undefined;
	if (namespace !== undefined) return { key: storeKey.slice(namespace.end), namespace: namespace.text };
	return { key: sessionKeyOf(undefined, storeKey) ?? storeKey };
}

/**
 * Returns how to recognise the store keys of a namespace: by a prefix that they have or, for sessions without a namespace
 * (null), do not have.
 */
export function namespacePrefix(namespace: string | null): {
	readonly prefix: string;
	readonly begins: boolean;
} {
	return namespace === null
		? { prefix: `${mark}ns${mark}`, begins: false }
		: { prefix: storeKeyOf(namespace, ""), begins: true };
}

/** Returns the parts of a store key created by `childStoreKey`; undefined for others. */
export function readChildStoreKey(
	storeKey: string,
): { readonly parentStoreKey: string; readonly subagent: string; readonly suffix: string } | undefined {
	const start = `${mark}sub${mark}`;
	if (!storeKey.startsWith(start)) return undefined;
	const parent = readCounted(storeKey, start.length);
	const subagent = parent && readCounted(storeKey, parent.end);
	if (subagent === undefined) return undefined;
	return {
		parentStoreKey: parent?.text ?? "",
		subagent: subagent.text,
		suffix: storeKey.slice(subagent.end),
	};
}

/** Reads `<length>NUL<text>NUL`. */
function readCounted(
	storeKey: string,
	from: number,
): { readonly text: string; readonly end: number } | undefined {
	const at = storeKey.indexOf(mark, from);
	const length = Number(storeKey.slice(from, at));
	if (at < 0 || !Number.isInteger(length)) return undefined;
	const end = at + 1 + length;
	return storeKey[end] === mark ? { text: storeKey.slice(at + 1, end), end: end + 1 } : undefined;
}

/** Returns the keys of agents in one namespace, or in none. */
export function keysOf(namespace: string | undefined): SessionKeys {
	return {
		storeKeyOf: (sessionKey) => storeKeyOf(namespace, sessionKey),
		keyOf: (storeKey) => sessionKeyOf(namespace, storeKey),
	};
}

/** Returns the namespace of a store key; for a child session, that of its root. */
export function namespaceOf(storeKey: string): string | undefined {
	const child = readChildStoreKey(storeKey);
	return child === undefined ? readStoreKey(storeKey).namespace : namespaceOf(child.parentStoreKey);
}

// Writes members of states as JSON data that shares nothing with them.
import { encodeValue, HoldfastError, isHoldfastError, type JSONValue, messageOf } from "@holdfast/upp";

/**
 * Converts a live value to separate JSON data.
 * @throws HoldfastError `unserialisable_value` with the path within the state.
 */
export function writeValue(value: unknown, path: string): JSONValue {
	return writeWith(path, () => encodeValue(value, { instances: "refuse" }));
}

/** Returns a copy of the result of `encode`. */
export function writeWith<Written>(path: string, encode: () => Written): Written {
	try {
		return copyJSON(encode() as JSONValue) as Written;
	} catch (cause) {
		throw unserialisable(path, cause);
	}
}

function unserialisable(path: string, cause: unknown): HoldfastError {
	const inner = isHoldfastError(cause) ? cause.data?.path : undefined;
	const place = typeof inner === "string" && inner !== "" ? `${path}.${inner}` : path;
	const why = messageOf(cause);
	return new HoldfastError(
		"unserialisable_value",
		`The state cannot be written as JSON because of "${place}". ${why}`,
		{ cause, data: { path: place } },
	);
}

function copyJSON(value: JSONValue): JSONValue {
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(copyJSON);
	const copy: Record<string, JSONValue> = {};
	for (const key of Object.keys(value)) {
		const member = copyJSON((value as Record<string, JSONValue>)[key] as JSONValue);
		// An assignment to this key would set the prototype.
		if (key === "__proto__") Object.defineProperty(copy, key, { value: member, ...open });
		else copy[key] = member;
	}
	return copy;
}

const open = { enumerable: true, configurable: true, writable: true };

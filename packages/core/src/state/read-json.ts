// Reads members of untrusted JSON data. Invalid data is refused with the path to it.
import { cutText, decodeValue, HoldfastError, isHoldfastError, type JSONValue } from "@holdfast/upp";

/** Creates the error for a fault at a path such as `plan.2.status`. */
export function invalidState(path: string, expected: string, found: unknown, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_state",
		`Not a state: "${path}" must be ${expected}, but is ${nameOf(found)}. Pass the return value of toJSON().`,
		{ data: { path }, ...(cause === undefined ? {} : { cause }) },
	);
}

/** Returns the same error for a state nested at a path of a larger document. */
export function prefixed(error: unknown, path: string): unknown {
	if (!isHoldfastError(error)) return error;
	const inner = error.data?.path;
	const place = typeof inner === "string" && inner !== "state" ? `${path}.${inner}` : path;
	return new HoldfastError(error.code, `At "${path}": ${error.message}`, {
		cause: error,
		data: { ...error.data, path: place },
	});
}

/** @throws HoldfastError `invalid_state` */
export function readRecord(value: unknown, path: string): Record<string, unknown> {
	if (isRecord(value)) return value;
	throw invalidState(path, "an object", value);
}

/** @throws HoldfastError `invalid_state` */
export function readString(value: unknown, path: string): string {
	if (typeof value === "string") return value;
	throw invalidState(path, "a string", value);
}

/** @throws HoldfastError `invalid_state` */
export function readId(value: unknown, path: string): string {
	if (typeof value === "string" && value !== "") return value;
	throw invalidState(path, "a non-empty string", value);
}

/** Reads a non-negative integer. @throws HoldfastError `invalid_state` */
export function readCount(value: unknown, path: string): number {
	if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
	throw invalidState(path, "a whole number from 0", value);
}

/** @throws HoldfastError `invalid_state` */
export function readList<Item>(
	value: unknown,
	path: string,
	readItem: (item: unknown, path: string) => Item,
): Item[] {
	if (!Array.isArray(value)) throw invalidState(path, "an array", value);
	return Array.from(value, (item, index) => readItem(item, `${path}.${index}`));
}

/** Reads a member that may be absent. */
export function readOptional<Value>(
	value: unknown,
	path: string,
	read: (value: unknown, path: string) => Value,
): Value | undefined {
	return value === undefined ? undefined : read(value, path);
}

/** Restores the live value of data written by `encodeValue`. @throws HoldfastError `invalid_state` */
export function readValue(value: unknown, path: string): unknown {
	try {
		return decodeValue(value as JSONValue);
	} catch (cause) {
		throw invalidState(path, "data as it was written", value, cause);
	}
}

function isRecord(value: unknown): value is Record<string, unknown> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	return !ArrayBuffer.isView(value) && !(value instanceof Date);
}

function nameOf(found: unknown): string {
	if (found === undefined) return "missing";
	if (found === null) return "null";
	if (Array.isArray(found)) return "an array";
	if (typeof found === "object") return "an object";
	const text = typeof found === "string" ? JSON.stringify(found) : String(found);
	return text.length <= 60 ? text : `${cutText(text, 60)}\u2026`;
}

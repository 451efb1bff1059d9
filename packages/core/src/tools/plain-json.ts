// Converts a tool's return value into a form that a journal and a model can hold: a string or plain JSON. Almost all
// values already have it and are passed on unchanged. Values that JSON would lose completely are refused.
import { messageOf } from "@holdfast/upp";

/**
 * Converts a value to plain JSON. Throws if that is impossible: functions, circular references, and objects that JSON
 * would reduce to nothing, such as a `Response`, a file or a promise.
 */
export function plainJson(value: unknown): unknown {
	if (value === undefined) return "";
	if (typeof value === "string" || isPlainJson(value, 0)) return value;
	if (typeof value === "function" || typeof value === "symbol")
		throw new TypeError(`it is a ${typeof value}.`);
	const text = JSON.stringify(value, toPlainMember);
	if (text === undefined) throw new TypeError("its `toJSON` returns nothing.");
	return JSON.parse(text);
}

/** Converts details to plain JSON, or replaces them with a marker if that is impossible. */
export function plainDetails(details: unknown): unknown {
	if (isPlainJson(details, 0)) return details;
	try {
		const text = JSON.stringify(details, toDetail);
		if (text !== undefined) return JSON.parse(text);
		return { unserialisable: `a ${typeof details}` };
	} catch (error) {
		return { unserialisable: messageOf(error).split("\n", 1)[0] };
	}
}

// Deeper values, including circular ones, are left to JSON.stringify, which throws.
const DEEPEST = 100;

function isPlainJson(value: unknown, depth: number): boolean {
	switch (typeof value) {
		case "string":
		case "boolean":
			return true;
		case "number":
			return Number.isFinite(value);
		case "object":
			return value === null || (depth < DEEPEST && isPlainContainer(value, depth + 1));
		default:
			return false;
	}
}

function isPlainContainer(value: object, depth: number): boolean {
	if (Array.isArray(value)) return value.every((item) => isPlainJson(item, depth));
	const prototype = Object.getPrototypeOf(value);
	if (prototype !== Object.prototype && prototype !== null) return false;
	if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
	for (const key of Object.keys(value)) {
		if (!isPlainJson((value as Record<string, unknown>)[key], depth)) return false;
	}
	return true;
}

// Converts values that JSON would lose silently to a form that a model can read.
function toPlainMember(this: unknown, key: string, member: unknown): unknown {
	const original = (this as Record<string, unknown>)[key];
	if (isBytes(original)) return bytesToBase64(original);
	if (typeof member === "bigint") return String(member);
	if (typeof member === "number" && !Number.isFinite(member)) return String(member);
	if (member instanceof Map) return Object.fromEntries(member);
	if (member instanceof Set) return [...member];
	if (member instanceof RegExp) return String(member);
	if (ArrayBuffer.isView(member)) return [...(member as Float64Array)];
	return toDetail(key, member);
}

function toDetail(_key: string, member: unknown): unknown {
	if (member instanceof Error) return { name: member.name, message: member.message };
	if (typeof member === "object" && member !== null && saysNothing(member)) {
		const { name } = member.constructor;
		throw new TypeError(
			`it contains an object of the class ${name || "without a name"}, which JSON would drop. Return its data.`,
		);
	}
	return member;
}

/** Whether JSON would keep nothing of an object's content. */
function saysNothing(value: object): boolean {
	if (Array.isArray(value) || Object.keys(value).length > 0) return false;
	const prototype: object | null = Object.getPrototypeOf(value);
	return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer | DataView {
	return value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof DataView;
}

/** Encodes bytes as base64. */
export function bytesToBase64(data: Uint8Array | ArrayBuffer | DataView): string {
	const bytes =
		data instanceof ArrayBuffer
			? new Uint8Array(data)
			: new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
	let binary = "";
	for (const byte of bytes) binary += String.fromCharCode(byte);
	return btoa(binary);
}

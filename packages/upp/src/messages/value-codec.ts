// Converts live values to JSON data and back, exactly: binary data and dates keep their kind, undefined members are
// dropped as in JSON, and user data that resembles one of our markers is preserved. Plain JSON is not copied.

import { HoldfastError } from "../errors/index.ts";
import { type Binary, binaryOf, bytesOf, isBinary, kindOf } from "./binary.ts";

// A marker is an object with this one key. A user's object that has the key is wrapped in an escape.
const marker = "$holdfast";

/** Any JSON value. */
export type JSONValue =
	| string
	| number
	| boolean
	| null
	| readonly JSONValue[]
	| { readonly [key: string]: JSONValue };

/** How to treat an instance of a class without `toJSON`, whose private members are invisible. */
export interface EncodeOptions {
	/**
	 * `"members"` (the default): it is encoded as its visible members, and refused if it has none. `"refuse"`: it is
	 * refused.
	 */
	readonly instances?: "members" | "refuse";
}

/**
 * Converts a live value to JSON data that `decodeValue` converts back. JSON values are returned unchanged. Objects with a
 * `toJSON` method are encoded as its result.
 * @throws HoldfastError `unserialisable_value`: functions, symbols, BigInt, circular references, and objects that JSON
 * would lose, such as errors, promises and files; names the path.
 */
export function encodeValue(value: unknown, options?: EncodeOptions): JSONValue {
	if (typeof value === "string") return value;
	return encode(value, { path: [], ancestors: [], refuses: options?.instances === "refuse" }) ?? null;
}

/**
 * Converts the output of `encodeValue` back to the live value.
 * @throws HoldfastError `unserialisable_value` if a marker is damaged.
 */
export function decodeValue(value: JSONValue): unknown {
	return typeof value === "object" && value !== null ? decode(value) : value;
}

interface Position {
	path: (string | number)[];
	ancestors: object[];
	/** Whether instances of classes are refused. */
	readonly refuses: boolean;
}

function encode(value: unknown, at: Position): JSONValue | undefined {
	switch (typeof value) {
		case "string":
		case "boolean":
			return value;
		case "number":
			return Number.isFinite(value) && !Object.is(value, -0) ? value : mark("number", numberName(value));
		case "undefined":
			return undefined;
		case "object":
			return value === null ? null : encodeObject(value, at);
		default:
			throw unserialisable(at.path, `a ${typeof value}`);
	}
}

function encodeObject(value: object, at: Position): JSONValue | undefined {
	if (value instanceof Uint8Array) return mark("bytes", bytesToBase64(value));
	if (value instanceof Date) {
		return mark("date", Number.isNaN(value.getTime()) ? "" : value.toISOString());
	}
	if (at.ancestors.includes(value)) throw unserialisable(at.path, "a circular reference");
	at.ancestors.push(value);
	const encoded = Array.isArray(value) ? encodeArray(value, at) : encodeRecord(value, at);
	at.ancestors.pop();
	return encoded;
}

function encodeArray(value: readonly unknown[], at: Position): JSONValue {
	let copy: JSONValue[] | undefined;
	for (let index = 0; index < value.length; index++) {
		at.path.push(index);
		const encoded = encode(value[index], at) ?? null;
		at.path.pop();
		if (copy === undefined && encoded !== value[index]) copy = value.slice(0, index) as JSONValue[];
		copy?.push(encoded);
	}
	return copy ?? (value as readonly JSONValue[]);
}

function encodeRecord(value: object, at: Position): JSONValue | undefined {
	const convert = (value as { toJSON?: unknown }).toJSON;
	if (typeof convert === "function") return encode(convert.call(value, String(at.path.at(-1) ?? "")), at);
	if (isBinary(value)) return mark("binary", [kindOf(value), bytesToBase64(bytesOf(value))]);
	const keys = Object.keys(value);
	const plain = isPlain(value);
	if (!plain && !isOfNoClass(value)) {
		const lost = losesAll(value, keys) || at.refuses;
		if (lost) throw unserialisable(at.path, `${nameOf(value)}, which JSON would drop in whole or in part`);
	}
	const given = value as Record<string, unknown>;
	// JSON values are not copied.
	let changed: [string, JSONValue][] | undefined = plain ? undefined : [];
	for (const [index, key] of keys.entries()) {
		const member = given[key];
		at.path.push(key);
		const result = encode(member, at);
		at.path.pop();
		if (changed === undefined && (result !== member || result === undefined)) {
			changed = keys.slice(0, index).map((before) => [before, given[before] as JSONValue]);
		}
		if (result !== undefined) changed?.push([key, result]);
	}
	const record = changed === undefined ? (value as { [key: string]: JSONValue }) : fromEntries(changed);
	return Object.hasOwn(value, marker) ? mark("object", record) : record;
}

function decode(value: object): unknown {
	if (Array.isArray(value)) return decodeArray(value);
	const record = value as Record<string, JSONValue>;
	if (Object.hasOwn(record, marker)) return unmark(record);
	return decodeMembers(record);
}

function decodeArray(value: readonly JSONValue[]): unknown[] {
	let copy: unknown[] | undefined;
	for (let index = 0; index < value.length; index++) {
		const decoded = decodeValue(value[index] as JSONValue);
		if (copy === undefined && decoded !== value[index]) copy = value.slice(0, index);
		copy?.push(decoded);
	}
	return copy ?? (value as unknown[]);
}

function decodeMembers(record: Record<string, JSONValue>): unknown {
	const keys = Object.keys(record);
	let changed: [string, unknown][] | undefined;
	for (let index = 0; index < keys.length; index++) {
		const key = keys[index] as string;
		const member = record[key] as JSONValue;
		const decoded = decodeValue(member);
		if (changed === undefined && decoded !== member)
			changed = keys.slice(0, index).map((before) => [before, record[before]]);
		changed?.push([key, decoded]);
	}
	return changed === undefined ? record : fromEntries(changed);
}

function unmark(record: Record<string, JSONValue>): unknown {
	const [kind, content] = Array.isArray(record[marker]) ? (record[marker] as JSONValue[]) : [];
	if (kind === "bytes" && typeof content === "string") return base64ToBytes(content);
	if (kind === "binary" && Array.isArray(content)) return unmarkBinary(content);
	if (kind === "date" && typeof content === "string") return new Date(content === "" ? Number.NaN : content);
	if (kind === "number" && typeof content === "string") return Number(content);
	if (kind === "object" && typeof content === "object" && content !== null) {
		return decodeMembers(content as Record<string, JSONValue>);
	}
	throw damaged();
}

function unmarkBinary([kind, base64]: readonly unknown[]): Binary {
	const bytes = typeof base64 === "string" ? base64ToBytes(base64) : undefined;
	const made = bytes === undefined ? undefined : binaryOf(kind, bytes);
	if (made === undefined) throw damaged();
	return made;
}

function damaged(): HoldfastError {
	return new HoldfastError(
		"unserialisable_value",
		`A stored value has a damaged "${marker}" marker. Another program wrote it, or it was changed.`,
	);
}

function mark(kind: string, content: JSONValue): JSONValue {
	return { [marker]: [kind, content] };
}

function numberName(value: number): string {
	return Object.is(value, -0) ? "-0" : String(value);
}

function isPlain(value: object): boolean {
	const prototype = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}

/** Whether it is a plain object, possibly from another realm. */
function isOfNoClass(value: object): boolean {
	const prototype: object | null = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether its content is not in its members. */
function losesAll(value: object, keys: readonly string[]): boolean {
	if (keys.length === 0 || ArrayBuffer.isView(value)) return true;
	return value instanceof Error || value instanceof Map || value instanceof Set;
}

function nameOf(value: object): string {
	const { name } = value.constructor ?? {};
	return typeof name === "string" && name !== "" ? `an object of the class ${name}` : "an object of a class";
}

// Object.fromEntries defines members, so a key "__proto__" remains data and does not set the prototype.
function fromEntries<T>(entries: [string, T][]): Record<string, T> {
	return Object.fromEntries(entries);
}

function unserialisable(path: readonly (string | number)[], what: string): HoldfastError {
	const place = path.length === 0 ? "The value" : `The value at "${path.join(".")}"`;
	return new HoldfastError(
		"unserialisable_value",
		`${place} cannot be stored as JSON: it is ${what}. Remove it or convert it to plain data.`,
		{ data: { path: path.join(".") } },
	);
}

interface Base64Bytes {
	toBase64?(): string;
}

interface Base64Constructor {
	fromBase64?(text: string): Uint8Array;
}

/** Encodes bytes as base64, in any JavaScript runtime. */
export function bytesToBase64(bytes: Uint8Array): string {
	const native = (bytes as Base64Bytes).toBase64;
	if (native !== undefined) return native.call(bytes);
	let binary = "";
	const piece = 0x8000;
	for (let start = 0; start < bytes.length; start += piece) {
		binary += String.fromCharCode(...bytes.subarray(start, start + piece));
	}
	return btoa(binary);
}

/** Decodes base64 to bytes, in any JavaScript runtime. */
export function base64ToBytes(text: string): Uint8Array {
	const native = (Uint8Array as Base64Constructor).fromBase64;
	if (native !== undefined) return native.call(Uint8Array, text);
	return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

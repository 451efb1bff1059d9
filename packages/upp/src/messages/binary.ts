// Binary data other than a Uint8Array: its kinds by name, its bytes, and back.

/** Any binary data but a Uint8Array, which has a shorter form. */
export type Binary = ArrayBuffer | ArrayBufferView;

type Constructor = new (buffer: ArrayBuffer) => Binary;

/** By name: an older runtime lacks some of them. */
const kinds = [
	"DataView",
	"Int8Array",
	"Uint8ClampedArray",
	"Int16Array",
	"Uint16Array",
	"Int32Array",
	"Uint32Array",
	"BigInt64Array",
	"BigUint64Array",
	"Float16Array",
	"Float32Array",
	"Float64Array",
] as const;

/** Whether a value is binary data; data shared between threads, which may change at any moment, is not. */
export function isBinary(value: object): value is Binary {
	return value instanceof ArrayBuffer || (ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer);
}

/** The name of its kind. */
export function kindOf(value: Binary): string {
	if (value instanceof ArrayBuffer) return "ArrayBuffer";
	return value instanceof DataView ? "DataView" : nameOf(value);
}

/** Its bytes, not copied. */
export function bytesOf(value: Binary): Uint8Array {
	if (value instanceof ArrayBuffer) return new Uint8Array(value);
	return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Data of a kind with these bytes; undefined where there is no such kind, or the bytes do not fit it. */
export function binaryOf(kind: unknown, bytes: Uint8Array): Binary | undefined {
	const buffer = bytes.slice().buffer as ArrayBuffer;
	if (kind === "ArrayBuffer") return buffer;
	const name = kinds.find((each) => each === kind);
	const make = name === undefined ? undefined : (globalThis as Record<string, unknown>)[name];
	if (typeof make !== "function") return undefined;
	try {
		return new (make as Constructor)(buffer);
	} catch {
		return undefined; // a length that is no multiple of an item's
	}
}

// A subclass has the name of the kind it is of, which no property of its own can change.
function nameOf(value: ArrayBufferView): string {
	const typed = Object.getPrototypeOf(Uint8Array.prototype);
	const { get } = Object.getOwnPropertyDescriptor(typed, Symbol.toStringTag) ?? {};
	return String(get?.call(value));
}

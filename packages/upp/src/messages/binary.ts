// Binary data other than a Uint8Array: its kinds by name, its bytes, and the reverse conversion.

/** Any binary data except a Uint8Array, which has a shorter form. */
export type Binary = ArrayBuffer | ArrayBufferView;

type Constructor = new (buffer: ArrayBuffer) => Binary;

/** By name, because older runtimes lack some of them. */
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

/** Whether a value is binary data. Data shared between threads is not, because it may change at any moment. */
export function isBinary(value: object): value is Binary {
	return value instanceof ArrayBuffer || (ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer);
}

/** Returns the name of its kind. */
export function kindOf(value: Binary): string {
	if (value instanceof ArrayBuffer) return "ArrayBuffer";
	return value instanceof DataView ? "DataView" : nameOf(value);
}

/** Returns its bytes without copying them. */
export function bytesOf(value: Binary): Uint8Array {
	if (value instanceof ArrayBuffer) return new Uint8Array(value);
	return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Returns data of a kind with these bytes; undefined if the kind is unknown, or the bytes do not fit it. */
export function binaryOf(kind: unknown, bytes: Uint8Array): Binary | undefined {
	const buffer = bytes.slice().buffer as ArrayBuffer;
	if (kind === "ArrayBuffer") return buffer;
	const name = kinds.find((each) => each === kind);
	const make = name === undefined ? undefined : (globalThis as Record<string, unknown>)[name];
	if (typeof make !== "function") return undefined;
	try {
		return new (make as Constructor)(buffer);
	} catch {
		return undefined; // the length is not a multiple of the item size
	}
}

// Returns the name of the built-in type, even for a subclass. Properties of the value cannot change it.
function nameOf(value: ArrayBufferView): string {
	const typed = Object.getPrototypeOf(Uint8Array.prototype);
	const { get } = Object.getOwnPropertyDescriptor(typed, Symbol.toStringTag) ?? {};
	return String(get?.call(value));
}

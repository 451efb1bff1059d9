// Makes what a tool returned into what a journal and a model can hold: a string or plain JSON.
// Values that are that already, nearly all, are passed on as they are.

/** A value as plain JSON. Throws where it cannot be: circular references. */
export function plainJson(value: unknown): unknown {
	if (value === undefined) return "";
	if (typeof value === "string" || isPlainJson(value, 0)) return value;
	const text = JSON.stringify(value, toPlainMember);
	return text === undefined ? String(value) : JSON.parse(text);
}

/** Details as plain JSON, or a marker in their place where they cannot be. */
export function plainDetails(details: unknown): unknown {
	if (isPlainJson(details, 0)) return details;
	try {
		const text = JSON.stringify(details);
		if (text !== undefined) return JSON.parse(text);
		return { unserialisable: `a ${typeof details}` };
	} catch (error) {
		return { unserialisable: error instanceof Error ? error.message.split("\n", 1)[0] : String(error) };
	}
}

// Deeper values, circular ones among them, are left to JSON.stringify, which throws.
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

// What JSON would lose without a word is written so that a model can read it.
function toPlainMember(this: unknown, key: string, member: unknown): unknown {
	const original = (this as Record<string, unknown>)[key];
	if (original instanceof Uint8Array) return bytesToBase64(original);
	if (typeof member === "bigint") return String(member);
	if (typeof member === "number" && !Number.isFinite(member)) return String(member);
	if (member instanceof Map) return Object.fromEntries(member);
	if (member instanceof Set) return [...member];
	if (member instanceof Error) return { name: member.name, message: member.message };
	return member;
}

function bytesToBase64(bytes: Uint8Array): string {
	let binary = "";
	for (const byte of bytes) binary += String.fromCharCode(byte);
	return btoa(binary);
}

// Random UUIDs in large numbers. `crypto.randomUUID` returns a string of many pieces that occupies half a kilobyte until
// it is flattened; this one is flat, takes 56 bytes, and draws its random bytes from a pool.

const poolSize = 16 * 256;
const pool = new Uint8Array(poolSize);
let used = poolSize;

/** The character codes of the sixteen hexadecimal digits. */
const digits = new Uint8Array([...Array(16).keys()].map((digit) => digit.toString(16).charCodeAt(0)));
const dash = 45;

/** Returns a new UUIDv4 from the runtime's secure random numbers. */
export function uuid(): string {
	if (used === poolSize) {
		globalThis.crypto.getRandomValues(pool);
		used = 0;
	}
	const at = used;
	used += 16;
	// One call with all characters creates a flat string. The version and variant bytes are partly fixed.
	const high = (offset: number): number => digits[(pool[at + offset] as number) >> 4] as number;
	const low = (offset: number): number => digits[(pool[at + offset] as number) & 15] as number;
	const variant = digits[8 + (((pool[at + 8] as number) >> 4) & 3)] as number;
	const text = String.fromCharCode(
		high(0),
		low(0),
		high(1),
		low(1),
		high(2),
		low(2),
		high(3),
		low(3),
		dash,
		high(4),
		low(4),
		high(5),
		low(5),
		dash,
		52,
		low(6),
		high(7),
		low(7),
		dash,
		variant,
		low(8),
		high(9),
		low(9),
		dash,
		high(10),
		low(10),
		high(11),
		low(11),
		high(12),
		low(12),
		high(13),
		low(13),
		high(14),
		low(14),
		high(15),
		low(15),
	);
	for (let byte = at; byte < used; byte++) pool[byte] = 0; // issued ids are not kept in the pool
	return text;
}

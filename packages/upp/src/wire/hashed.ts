// A short hash for names. It tells names apart and protects nothing.

/** Ten characters, digits and lower-case letters, the same for the same text (two FNV-1a hashes of its code units). */
export function hashed(text: string): string {
	let one = 0x811c9dc5;
	let other = 0x9747b28c;
	for (let index = 0; index < text.length; index++) {
		const unit = text.charCodeAt(index);
		one = Math.imul(one ^ unit, 0x01000193);
		other = Math.imul(other ^ (unit + index), 0x01000193);
	}
	return digits(one) + digits(other);
}

function digits(hash: number): string {
	return (hash >>> 0).toString(36).padStart(7, "0").slice(-5);
}

// Names of tools and ids of calls in a form that providers accept. Each depends only on the given text, so that a name
// refers to the same tool in the list of tools and in the history, regardless of the tools of a later request.

/**
 * The names that OpenAI, Anthropic, Google, Mistral and Groq accept: Google requires a letter or `_` first, OpenAI at
 * most 64 characters.
 */
const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const longestName = 64;
/** OpenAI accepts ids up to 40 characters; Anthropic accepts letters, digits, `_` and `-`. */
const callId = /^[a-zA-Z0-9_-]{1,40}$/;
/** The names that Anthropic accepts for a property at the root of a schema. */
export const acceptedPropertyName: RegExp = /^[a-zA-Z0-9_.-]{1,64}$/;
const nineCharacters = /^[a-zA-Z0-9]{9}$/;

/**
 * Returns the name if providers accept it, otherwise one that they accept and that no other tool has: `a.b` becomes
 * `a_b_<hash>`.
 */
export function wireToolName(name: string): string {
	if (toolName.test(name)) return name;
	const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
	const hash = hashed(name);
	return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`;
}

/**
 * Returns the name if Anthropic accepts it, otherwise one that it accepts and that no other property has: `$top` becomes
 * `_top_<hash>`.
 */
export function wirePropertyName(name: string): string {
	if (acceptedPropertyName.test(name)) return name;
	const hash = hashed(name);
	return `${name.replace(/[^a-zA-Z0-9_.-]/g, "_").slice(0, longestName - hash.length - 1)}_${hash}`;
}

/** Returns the id if providers accept it, otherwise one that they accept and that no other call has. */
export function wireCallId(id: string): string {
	return callId.test(id) ? id : `call_${hashed(id)}`;
}

/** Like `wireCallId`, for Mistral, which accepts only nine letters and digits. */
export function nineCharacterId(id: string): string {
	return nineCharacters.test(id) ? id : hashed(id).slice(1);
}

/**
 * Returns a short hash that distinguishes names but offers no security: ten characters, digits and lower-case letters,
 * the same for the same text (two FNV-1a hashes of its code units).
 */
function hashed(text: string): string {
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

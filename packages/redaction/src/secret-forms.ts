// The forms in which a registered secret may appear: verbatim, URL-encoded in whole or in part, JSON-escaped, and in
// base64 at each of its three alignments, with either alphabet.

/** One encoding of a secret: a sequence of units, each of which may be written in several ways. */
export interface SecretForm {
	readonly units: readonly Unit[];
	/** Whether its last bits share a base64 character with what follows. */
	readonly isOpen: boolean;
}

/**
 * Ways to write one character. Ways that start with `%` or `\` are in lower case, because case does not matter there.
 */
type Unit = readonly string[];

/** Shorter pieces of base64 occur in any text. */
const shortestPiece = 6;

/** Returns all forms of a value. */
export function formsOf(value: string): readonly SecretForm[] {
	return [
		{ units: Array.from(value, written), isOpen: false },
		...base64Forms(new TextEncoder().encode(value)),
	];
}

function written(character: string): Unit {
	const escaped = JSON.stringify(character).slice(1, -1);
	const twice = JSON.stringify(escaped).slice(1, -1);
	const codes = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
	const numbered = codes.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
	const bytes = [...new TextEncoder().encode(character)];
	const percent = bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
	const slash = character === "/" ? ["\\/"] : [];
	const plus = character === " " ? ["+"] : [];
	return [...new Set([character, escaped, twice, numbered, `\\${numbered}`, percent, ...slash, ...plus])];
}

function base64Forms(bytes: Uint8Array): readonly SecretForm[] {
	const forms: SecretForm[] = [];
	for (const before of [0, 1, 2]) {
		const padded = new Uint8Array(before + bytes.length);
		padded.set(bytes, before);
		const text = Buffer.from(padded).toString("base64").replace(/=+$/, "");
		const isWhole = text.length >= 4 && before === 0 && bytes.length % 3 === 0;
		const piece = text.slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
		if (piece.length < shortestPiece && !isWhole) {
			if (before === 0 && text.length >= 4) forms.push({ units: Array.from(text, inBase64), isOpen: false });
			continue;
		}
		forms.push({ units: Array.from(piece, inBase64), isOpen: (padded.length * 8) % 6 !== 0 });
	}
	return forms;
}

function inBase64(character: string): Unit {
	if (character === "+") return ["+", "-", "%2b"];
	return character === "/" ? ["/", "_", "%2f", "\\/"] : [character];
}

/** The characters that may follow an open form and belong to it. */
const openEnd = /[A-Za-z0-9+/_-]?(?:={1,2}|(?:%3[Dd]){1,2})?/y;
/** The longest of these. */
const longestEnd = 7;

/** How far a form extends from a position: its end, or -1; and whether it may extend further with more text. */
export interface Reach {
	readonly end: number;
	readonly isCut: boolean;
}

export function reachOf({ units, isOpen }: SecretForm, text: string, from: number): Reach {
	let places: readonly number[] = [from];
	let isCut = false;
	for (const unit of units) {
		const next: number[] = [];
		for (const at of places) {
			for (const way of unit) {
				if (isWritten(text, at, way)) {
					if (!next.includes(at + way.length)) next.push(at + way.length);
				} else if (at + way.length > text.length && isWritten(text, at, way.slice(0, text.length - at)))
					isCut = true;
			}
		}
		if (next.length === 0) return { end: -1, isCut };
		places = next;
	}
	let end = Math.max(...places);
	if (isOpen) {
		isCut ||= text.length - end < longestEnd && endsOpen(text, end);
		openEnd.lastIndex = end;
		openEnd.test(text);
		end = Math.max(end, openEnd.lastIndex);
	}
	return { end, isCut };
}

/** Whether the rest of the text may belong to an open form. */
function endsOpen(text: string, from: number): boolean {
	return /^[A-Za-z0-9+/_-]?(?:=?|(?:%3[Dd])?(?:%3?)?)$/.test(text.slice(from));
}

function isWritten(text: string, at: number, way: string): boolean {
	if (way.length > 1 && (way[0] === "%" || way[0] === "\\")) {
		const sign = text[at];
		return sign === way[0] && text.slice(at, at + way.length).toLowerCase() === way.toLowerCase();
	}
	return text.startsWith(way, at);
}

/** Number of units in the pattern that finds a form's start. */
const leading = 24;

/** Returns the source of a pattern for the possible starts of these forms. */
export function beginnings(forms: readonly SecretForm[], length: number = leading): string {
	const sources = forms.map(({ units }) => units.slice(0, length).map(sourceOf).join(""));
	return [...new Set(sources)].join("|");
}

function sourceOf(unit: Unit): string {
	const ways = unit.map((way) =>
		Array.from(way, (character) => {
			const isCoded = way.length > 1 && /[%\\]/.test(way[0] as string) && /[a-f]/i.test(character);
			const plain = character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
			return isCoded ? `[${character.toLowerCase()}${character.toUpperCase()}]` : plain;
		}).join(""),
	);
	return ways.length === 1 ? (ways[0] as string) : `(?:${ways.join("|")})`;
}

/** Returns the forms for a text without `%` and `\`, in which no character is encoded. */
export function plainForms(forms: readonly SecretForm[]): readonly SecretForm[] {
	return forms
		.map((form) => ({ ...form, units: form.units.map((unit) => unit.filter((way) => !/[%\\]/.test(way))) }))
		.filter(({ units }) => units.every(({ length }) => length > 0));
}

/** Returns the characters that a form may start with. */
export function firstCharacters(forms: readonly SecretForm[]): ReadonlySet<string> {
	return new Set(forms.flatMap(({ units }) => (units[0] ?? []).map((way) => way[0] as string)));
}

/** Returns the maximum length of these forms. */
export function longestOf(forms: readonly SecretForm[]): number {
	const lengths = forms.map(({ units }) =>
		units.reduce((sum, unit) => sum + Math.max(...unit.map((way) => way.length)), longestEnd),
	);
	return Math.max(0, ...lengths);
}

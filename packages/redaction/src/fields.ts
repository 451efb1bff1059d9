// Fields that are named like a password: by their name in data, and by name and value in text.
import { type MaskType, maskPattern } from "./mask.ts";
import type { Answer, Place, Rest } from "./rule.ts";
import { endOfRun, isAt } from "./rule.ts";

const names: readonly (readonly [name: string, type: MaskType])[] = [
	["pass(?:word|wd|phrase|code)|pwd", "password"],
	["api[-_]?key|(?:access|secret|private|signing|encryption)[-_]?key(?:[-_]?id)?", "api-key"],
	["token|authorization|cookie", "token"],
	["secret|credential", "secret"],
];

/** The characters that may follow a name directly. */
export const afterName = "(?=[-_hHsS\\d\"'\\\\ \\t:=]|$)";

/** The source of a pattern of all names. Preceding characters of a name, as in `dbPassword`, belong to it. */
export const fieldNames: string = names.map(([name]) => name).join("|");

/**
 * A name may continue, as in `password_hash`, `secrets` or `PASSWORD_2`. The plural `tokens` is usually a count, not a
 * secret.
 */
const nameEnd = "(?:[-_]?hash|s(?<!tokens|cookies|keys))?(?:[-_]?\\d{1,2})?";

const wholeName = new RegExp(`(?:${fieldNames})${nameEnd}$`, "i");
const types = names.map(([name, type]) => [new RegExp(`(?:${name})${nameEnd}$`, "i"), type] as const);

const seen = new Map<string, MaskType | undefined>();

/** The type of secret that a field of this name holds. */
export function typeOfField(name: string): MaskType | undefined {
	if (name.length > 100) return typeOfName(name.slice(-100));
	const before = seen.get(name);
	if (before !== undefined || seen.has(name)) return before;
	const type = typeOfName(name);
	if (seen.size < 1_000) seen.set(name, type);
	return type;
}

function typeOfName(name: string): MaskType | undefined {
	return wholeName.test(name) ? types.find(([pattern]) => pattern.test(name))?.[1] : undefined;
}

const named = new RegExp(`(?:${fieldNames})${nameEnd}`, "iy");
/** A possible start of a field's head, or a head whose value has not arrived yet. */
const headSoFar = new RegExp(
	`(?:${fieldNames})[-_]?(?:h|ha|has|hash|s)?(?:[-_]?\\d{0,2})?(?:\\\\?["']?)?[ \\t]{0,4}[:=]?[ \\t]{0,4}`,
	"iy",
);
const maskInside = new RegExp(maskPattern, "y");
const maskSoFar = /\[[A-Za-z:-]{0,31}\]?/y;
const scheme = /(?:bearer|basic|token|digest)[ \t]{1,4}/iy;
const schemeSoFar = /[a-z]{0,6}[ \t]{0,4}/iy;
const bare = /[^\s"'`,;&<>()[\]{}\\]+/y;
const restOfBare: Rest = { part: bare };

/** Matches a value after a name: in quotes, as in JSON, or bare, as in a query, a header or a settings file. */
export function fieldAt({ text, at, isWhole }: Place): Answer {
	const nameTo = endOfRun(named, text, at);
	const quoteTo = afterQuote(text, nameTo);
	const signAt = afterBlanks(text, quoteTo);
	if (nameTo === at || (text[signAt] !== ":" && text[signAt] !== "="))
		return !isWhole && endOfRun(headSoFar, text, at) === text.length ? "more" : undefined;
	const name = text.slice(at, nameTo);
	const from = afterBlanks(text, signAt + 1);
	if (from === text.length) return isWhole ? undefined : "more";
	const type = typeOfField(name);
	if (type === undefined) return undefined;
	const open = afterQuote(text, from);
	if (open > from) return quotedAt(text, from, open, isWhole, type);
	if (text[from] === "\\" && from + 1 === text.length && !isWhole) return "more";
	const start = from;
	// The first character of a value determines the patterns that can match.
	const masked = text[start] === "[" ? endOfRun(maskInside, text, start) : start;
	if (masked === start && text[start] === "[")
		return !isWhole && endOfRun(maskSoFar, text, start) === text.length ? "more" : undefined;
	if (masked > start) {
		if (masked === text.length) return isWhole ? undefined : "more";
		const end = endOfRun(bare, text, masked);
		return end > masked ? { start, end, type, rest: restOfBare } : undefined;
	}
	const isHeader = name.length >= "authorization".length && /authorization$/i.test(name);
	if (isHeader) {
		const value = endOfRun(scheme, text, start);
		if (!isWhole && (value === text.length || endOfRun(schemeSoFar, text, start) === text.length))
			return "more";
		const end = endOfRun(bare, text, value);
		return end > value ? { start: value, end: value + 1, type, rest: restOfBare } : undefined;
	}
	const isTight = text[nameTo] === "=" && start === nameTo + 1;
	const isNumber = quoteTo > nameTo && isAt(/-?\d/y, text, start);
	const isChosen = isTight || isNumber || looksChosen(text, start);
	if (!isChosen && isWhole) return undefined;
	const end = endOfRun(bareStart, text, start);
	if (end === start) return undefined;
	if (isTight) {
		// `password=read(` is code, and so is `password=this.`; the available part of the value is enough to decide.
		if (end === text.length && !isWhole && end - start < longestWord) return "more";
		return isCode(text, end) ? undefined : { start, end: start + 1, type, rest: restOfBare };
	}
	if (end === text.length && !isWhole && end - start < longestWord) return "more";
	const isSaid = isChosen && text[start] !== "$" && !isCode(text, end);
	return isNumber || isSaid ? { start, end: start + 1, type, rest: restOfBare } : undefined;
}

/** Returns the end of an opening quote, escaped or not; `at` itself without one. */
function afterQuote(text: string, at: number): number {
	const end = text[at] === "\\" ? at + 2 : at + 1;
	return text[end - 1] === '"' || text[end - 1] === "'" ? end : at;
}

/** Returns the end of a run of blanks; only a few are examined. */
function afterBlanks(text: string, at: number): number {
	let end = at;
	while (end < at + 4 && (text[end] === " " || text[end] === "\t")) end++;
	return end;
}

/** Character classes: digits, signs that do not occur within words, and characters that end a bare value. */
const [digit, sign, stop] = [1, 2, 3];
const kinds: Uint8Array = new Uint8Array(128);
for (const [kind, characters] of [
	[digit, "0123456789"],
	[sign, "!#$%^*~?@+"],
	[stop, " \t\n\v\f\r\"'`,;&<>()[]{}\\"],
] as const)
	for (const each of characters) kinds[each.charCodeAt(0)] = kind;

/** Whether the bare value at a position looks like a chosen secret rather than a word, judging by the examined part. */
function looksChosen(text: string, start: number): boolean {
	const limit = Math.min(text.length, start + longestWord);
	let isSigned = false;
	for (let at = start; at < limit; at++) {
		const code = text.charCodeAt(at);
		const kind = code < 128 ? kinds[code] : isAt(/\s/y, text, at) ? stop : 0;
		if (kind === stop) return false;
		if (kind === digit || isSigned) return true;
		isSigned = kind === sign;
	}
	return false;
}

/** Whether the text up to here is called or indexed; text masked immediately after it looks the same. */
function isCode(text: string, end: number): boolean {
	return text[end] === "(" || text[end] === "[";
}

/** Maximum number of characters of a bare value examined. */
const longestWord = 40;
const bareStart = /[^\s"'`,;&<>()[\]{}\\]{1,40}/y;

const rests: ReadonlyMap<string, Rest> = new Map([
	['"', { part: /(?:[^"\\\n]|\\[^\n])+/y, unsure: /\\$/y }],
	["'", { part: /(?:[^'\\\n]|\\[^\n])+/y, unsure: /\\$/y }],
	['\\"', { part: /(?:[^"\\\n]|\\\\(?:\\["\\])?(?!$)|\\[^"\\\n])+/y, unsure: /\\{1,3}$/y }],
	["\\'", { part: /(?:[^'\\\n]|\\\\(?:\\['\\])?(?!$)|\\[^'\\\n])+/y, unsure: /\\{1,3}$/y }],
]);

function quotedAt(text: string, from: number, open: number, isWhole: boolean, type: MaskType): Answer {
	const quote = text.slice(from, open);
	if (open === text.length) return isWhole ? undefined : "more";
	if (text.startsWith(quote, open) || text[open] === "\n") return undefined;
	if (text[open] === "\\" && open + 1 === text.length && !isWhole) return "more";
	// An existing mask is left unchanged if it is the whole value.
	const masked = text[open] === "[" ? endOfRun(maskInside, text, open) : open;
	if (masked > open) {
		if (text.length - masked < quote.length && !isWhole) return "more";
		if (masked === text.length || text.startsWith(quote, masked)) return undefined;
	} else if (!isWhole && text[open] === "[" && endOfRun(maskSoFar, text, open) === text.length) return "more";
	const rest = rests.get(quote) as Rest;
	return { start: open, end: open, type, rest };
}

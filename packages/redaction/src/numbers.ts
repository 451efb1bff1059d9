// Card and phone numbers. A pattern finds candidates; a checksum or a library of numbering plans decides.
import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Answer, Hit, Place } from "./rule.ts";
import { endOfRun } from "./rule.ts";

/** The patterns of the beginning of a card or phone number, by first character. */
const shapes: readonly (readonly [first: string, rest: string])[] = [
	["\\d", "\\d{12}|\\d{3}(?: \\d{4} \\d{4} |-\\d{4}-\\d{4}-)\\d{4}"],
	["3", "\\d{3}[ -]\\d{6}[ -]\\d{4}"],
	["\\+", "[1-9](?:[ .\\-/()\\u00a0]{0,3}\\d){6}"],
];
/** Shapes of numbers whose single groups are not numbers by themselves. */
const groups: typeof shapes = [
	["0", "0[1-9](?:[ .\\-/()\\u00a0]{0,3}\\d){6}|\\d(?:[ .\\-/)\\u00a0]{0,3}\\d){7}"],
	["1", "[ .-](?:\\([2-9]\\d\\d\\) ?|[2-9]\\d\\d[ .-])[2-9]\\d\\d[ .-]\\d{4}|[3-9]\\d[ -]\\d{4}[ -]\\d{4}"],
	["[2-9]", "\\d\\d[ .-][2-9]\\d\\d[ .-]\\d{4}"],
	["8", " ?\\(\\d{2,5}\\) ?\\d{3,5}[ -]?\\d{2}"],
	[
		"\\(",
		"0\\d(?:[ .\\-/)\\u00a0]{0,3}\\d){7}|[2-9]\\d\\d\\) ?[2-9]\\d\\d[ .-]\\d{4}|\\d{2,5}\\) ?\\d{3,5}[ -]?\\d{2}",
	],
];
/** The preceding text is checked after the first character, because most characters do not start a number. */
const sourceOf = (before: string, beforeGroup: string): string =>
	[
		...shapes.map(([first, rest]) => `${first}${before}(?:${rest})`),
		...groups.map(([first, rest]) => `${first}${before}${beforeGroup}(?:${rest})`),
	].join("|");

export const numberTrigger: RegExp = new RegExp(
	sourceOf("(?<![A-Za-z0-9_].|\\d[.\\-/:].)", "(?<!\\d .)"),
	"g",
);
/** Matches a number at a border. */
export const numberBorder: RegExp = new RegExp(sourceOf("", ""), "y");

/** The source of a pattern for a word that announces a phone number. */
export const phoneLabel: string =
	"\\b(?:[Tt]el|TEL|[Pp]hone|PHONE|[Mm]obile|[Cc]ell|[Ff]ax|FAX|[Cc]all|[Ww]hats[Aa]pp|[Ss]ms|SMS|[Tt]elefon|[Hh]andy|[Mm][oó]vil)\\b(?=[^\\d+(]{0,22}(?:[\\d+(]|$))";

/** The longest number including separators; the scanner holds more than this. */
const longest = 72;
const run = /[\d+(][\d .\-()/\u00a0]{0,72}/y;

/**
 * Maximum number of calls to the library per text; each takes 20 microseconds. Afterwards every phone-like text counts
 * as a phone number.
 */
const mostQuestions = 500;

/** The calls of the library for a text so far. */
export interface Asked {
	questions: number;
}

/** Matches a card or phone number. */
export function numberAt({ text, at, floor, isWhole }: Place, asked: Asked, isLabelled = false): Answer {
	if (!isWhole) {
		const end = endOfRun(run, text, at);
		// One more character is required: if a letter follows, it is not a number.
		if (end === text.length && end - at < longest) return "more";
	}
	const before = at > floor ? (text[at - 1] as string) : "";
	const isAfterDigit = at - 1 > floor && isDigit(text, at - 2);
	const isAfterLetter = before === "-" && at - 1 > floor && /[A-Za-z]/.test(text[at - 2] as string);
	const isPart = (isAfterDigit && before !== "" && ".,/:-".includes(before)) || isAfterLetter;
	if (!isPart && isDigit(text, at + 3)) {
		const card = cardIn(text, at);
		if (card > 0) return { start: at, end: at + card, type: "card" };
	}
	if (isPart && !isLabelled) return undefined;
	if (before === " " && isAfterDigit && text[at] !== "+") return undefined;
	const phone = phoneIn(text, at, isLabelled, asked);
	return phone > 0 ? ({ start: at, end: at + phone, type: "phone" } satisfies Hit) : undefined;
}

const afterLabel =
	/[a-zó]+(?: (?:me|us))?(?: (?:at|on))?(?: ?(?:number|no\.?))?[.:=]{0,2}["']?[:=]? {0,2}["']?/iy;
const maybeLabel = /[a-zó]+[a-z .:="']{0,24}$/iy;

/** Matches a phone number after a word that announces one, in any format. */
export function labelledAt(place: Place, asked: Asked): Answer {
	const { text, at, isWhole } = place;
	if (!isWhole && text.length - at < 40 && endOfRun(maybeLabel, text, at) === text.length) return "more";
	const start = endOfRun(afterLabel, text, at);
	return /[\d+(]/.test(text[start] ?? "") ? numberAt({ ...place, at: start }, asked, true) : undefined;
}

const inFours = /\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?(?!-?\d|[A-Za-z_])/y;
const inThree = /3\d{3}([ -])\d{6}\1\d{4,5}(?!-?\d|[A-Za-z_])/y;
const inOne = /\d{13,19}(?!-?\d|[A-Za-z_])/y;
const issuers =
	/^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15})$/;

/** Returns the length of the card number at a position, or 0. */
function cardIn(text: string, at: number): number {
	// The fifth and the tenth character determine the possible shape.
	const shape = isDigit(text, at + 4) ? inOne : isDigit(text, at + 9) ? inThree : inFours;
	const end = endOfRun(shape, text, at);
	if (end > at && passesLuhn(text, at, end) && issuers.test(text.slice(at, end).replace(/[ -]/g, "")))
		return end - at;
	return 0;
}

function isDigit(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 48 && code <= 57;
}

/** Whether the digits are a card number. */
export function isCard(digits: string): boolean {
	return digits.length > 13 && issuers.test(digits) && passesLuhn(digits, 0, digits.length);
}

/** The checksum of the digits between two positions, ignoring separators. */
function passesLuhn(text: string, from: number, to: number): boolean {
	let sum = 0;
	let isDoubled = false;
	for (let at = to - 1; at >= from; at--) {
		const digit = text.charCodeAt(at) - 48;
		if (digit < 0) continue;
		const counted = isDoubled ? digit * 2 : digit;
		sum += counted > 9 ? counted - 9 : counted;
		isDoubled = !isDoubled;
	}
	return sum % 10 === 0;
}

const gap = "[ .\\-/\\u00a0]";
/** Neither the number continues nor a word starts. */
const over = "(?![.\\-/]?\\d|[A-Za-z_@])";
const shape = (source: string): RegExp => new RegExp(`${source}${over}`, "y");
const international = shape(`(?:\\+|00)[1-9](?:${gap}?\\(?\\d|\\)${gap}?\\d|${gap}?\\(0\\)${gap}?\\d){6,16}`);
const northAmerican = shape(
	"(?:1[ .-])?(?:\\([2-9]\\d\\d\\) ?|[2-9]\\d\\d([ .-]))[2-9]\\d\\d(?:\\1|[-. ])\\d{4}",
);
const trunk = shape(`(?:\\(0\\d{1,5}\\)${gap}{0,3}\\d{2,8}|0\\d{1,5})(?:${gap}{1,3}\\d{1,8}){0,5}`);
const french = shape("0[1-9](?:([ .-])\\d\\d)(?:\\1\\d\\d){3}");
const area = shape("\\(\\d{2,5}\\) ?\\d{3,5}[ -]?\\d{2,4}(?:[ -]\\d{2})?");
const chinese = shape("1[3-9]\\d([ -])\\d{4}\\1\\d{4}");
const russian = shape("8 ?\\(\\d{3}\\) ?\\d{3}-\\d\\d-\\d\\d");
const anyPhone = shape("\\(?\\d(?:[ .\\-()/]{0,2}\\d){6,12}");
const date = /\(?(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?![./-]?\d)|\d{4}([./-])\d{1,2}\2\d{1,2}(?!\d))/y;
/** Countries with national numbers that start with 0. */
const homes: readonly CountryCode[] = ["GB", "FR", "DE", "IT", "NL", "AU", "JP", "KR", "CH", "SE"];

/** Returns the length of the phone number at a position, or 0. */
function phoneIn(text: string, at: number, isLabelled: boolean, asked: Asked): number {
	const fits = (pattern: RegExp): string => text.slice(at, endOfRun(pattern, text, at));
	const first = text[at] as string;
	if (first === "+" || text.startsWith("00", at)) {
		const found = fits(international);
		if (found === "") return 0;
		const digits = found.replace(/^00/, "+").replace("(0)", "");
		return isOneOf(digits, asked, first === "+" ? "possible" : "valid") ? found.length : 0;
	}
	const isOneGroup = first !== "0" && hasDigits(text, at, 6);
	if (isOneGroup && !isLabelled) return 0;
	if (endOfRun(date, text, at) > at) return 0;
	if (isOneGroup) return fits(anyPhone).length;
	const american = /[1-9(]/.test(first) ? fits(northAmerican) : "";
	if (american !== "" && isOneOf(american, asked, "valid", "US")) return american.length;
	const sure =
		first === "8" ? fits(russian) : first === "1" ? fits(chinese) : first === "(" ? fits(area) : "";
	if (countOfDigits(sure) >= 8 && countOfDigits(sure) <= 12) return sure.length;
	const pairs = first === "0" ? fits(french) : "";
	if (pairs !== "" && isOneOf(pairs, asked, "valid", "FR")) return pairs.length;
	const home = /[0(]/.test(first) ? fits(trunk) : "";
	if (countOfDigits(home) >= 9 && countOfDigits(home) <= 12)
		if (homes.some((country) => isOneOf(home, asked, "valid", country))) return home.length;
	return isLabelled ? fits(anyPhone).length : 0;
}

/** Whether this many digits follow each other; only countries with a leading 0 write numbers that way. */
function hasDigits(text: string, at: number, count: number): boolean {
	let end = at;
	while (end - at < count && isDigit(text, end)) end++;
	return end - at === count;
}

function countOfDigits(text: string): number {
	return text.replace(/\D/g, "").length;
}

/** Whether the library accepts it: by the length of numbers in its country, or also by its first digits. */
function isOneOf(text: string, asked: Asked, how: "possible" | "valid", country?: CountryCode): boolean {
	if (asked.questions >= mostQuestions) return true;
	asked.questions++;
	const number = parsePhoneNumberFromString(text, country);
	return (how === "valid" ? number?.isValid() : number?.isPossible()) ?? false;
}

// Numbers of cards and phones. A pattern finds what is shaped like one, a checksum or the library of the world's numbering
// plans decides.
import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Answer, Hit, Place } from "./rule.ts";
import { endOfRun } from "./rule.ts";

/** The source of a pattern for what is shaped like the beginning of a card's or a phone's number. */
export const numberStart = `(?<![A-Za-z0-9_])(?:${[
	"\\d{13}",
	"\\d{4}([ -])\\d{4}\\k<gap>\\d{4}".replace("([ -])", "(?<gap>[ -])"),
	"3\\d{3}[ -]\\d{6}[ -]\\d{4}",
	"(?:\\+|00)[1-9](?:[ .\\-/()\\u00a0]{0,3}\\d){6}",
	"(?:1[ .-])?(?:\\([2-9]\\d\\d\\) ?|[2-9]\\d\\d[ .-])[2-9]\\d\\d[ .-]\\d{4}",
	"\\(?0\\d{1,5}\\)?(?:[ .\\-/\\u00a0]\\d{1,8}){1,5}",
	"(?:8 ?)?\\(\\d{2,5}\\) ?\\d{3,5}[ -]?\\d{2}",
	"1[3-9]\\d[ -]\\d{4}[ -]\\d{4}",
].join("|")})`;

/** The source of a pattern for a word that says that a phone's number follows. */
export const phoneLabel =
	"\\b(?:[Tt]el|TEL|[Pp]hone|PHONE|[Mm]obile|[Cc]ell|[Ff]ax|FAX|[Cc]all|[Ww]hats[Aa]pp|[Ss]ms|SMS|[Tt]elefon|[Hh]andy|[Mm][oó]vil)\\b";

/** The longest number with all that may part its digits. */
const longest = 48;
const run = /[\d+(][\d .\-()/\u00a0]{0,48}/y;

/** So often one text may ask the library: it takes 20 microseconds. Afterwards what is shaped like a phone counts as one. */
const mostQuestions = 1_000;

/** What a text has asked so far. */
export interface Asked {
	questions: number;
}

/** A card's or a phone's number. */
export function numberAt({ text, at, floor, isWhole }: Place, asked: Asked, isLabelled = false): Answer {
	const before = at > floor ? text[at - 1] : undefined;
	const isPart = before !== undefined && /[.,\-/:]/.test(before) && at - 1 > floor && /[\dA-Za-z]/.test(text[at - 2] as string);
	const end = endOfRun(run, text, at);
	// One more is looked at: a letter that follows says that it is no number.
	if (end === text.length && !isWhole && end - at < longest) return "more";
	const window = text.slice(at, Math.min(end, at + longest));
	const next = end < text.length ? (text[end] as string) : "";
	if (!isPart) {
		const card = cardIn(window, next);
		if (card > 0) return { start: at, end: at + card, type: "card" };
	}
	if (isPart && !isLabelled) return undefined;
	const phone = phoneIn(window, next, isLabelled, asked);
	return phone > 0 ? ({ start: at, end: at + phone, type: "phone" } satisfies Hit) : undefined;
}

const afterLabel = /[a-zó]+(?: (?:me|us))?(?: (?:at|on))?(?: ?(?:number|no\.?))?[.:=]{0,2}["']?[:=]? {0,2}["']?/iy;
const maybeLabel = /[a-zó]+[a-z .:="']{0,24}$/iy;

/** A phone's number after a word that announces one: then it may look like any number. */
export function labelledAt(place: Place, asked: Asked): Answer {
	const { text, at, isWhole } = place;
	if (!isWhole && text.length - at < 40 && endOfRun(maybeLabel, text, at) === text.length) return "more";
	const start = endOfRun(afterLabel, text, at);
	return /[\d+(]/.test(text[start] ?? "") ? numberAt({ ...place, at: start }, asked, true) : undefined;
}

const cardShapes: readonly RegExp[] = [
	/^\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?(?![\d-])/,
	/^3\d{3}([ -])\d{6}\1\d{4,5}(?![\d-])/,
	/^\d{13,19}(?![\d-])/,
];
const issuers = /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15})$/;

/** How long the card's number is that the text begins with, or 0. */
function cardIn(window: string, next: string): number {
	for (const shape of cardShapes) {
		const found = shape.exec(window)?.[0];
		if (found === undefined) continue;
		if (found.length === window.length && /[A-Za-z_]/.test(next)) continue;
		const digits = found.replace(/\D/g, "");
		if (issuers.test(digits) && passesLuhn(digits)) return found.length;
	}
	return 0;
}

/** Whether a number is one of a card. */
export function isCard(digits: string): boolean {
	return digits.length > 13 && issuers.test(digits) && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
	let sum = 0;
	for (let at = 0; at < digits.length; at++) {
		const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
		const doubled = at % 2 === 0 ? digit : digit * 2;
		sum += doubled > 9 ? doubled - 9 : doubled;
	}
	return sum % 10 === 0;
}

const gap = "[ .\\-/\\u00a0]";
const international = new RegExp(`^(?:\\+|00)[1-9](?:${gap}?\\(?\\d|\\)${gap}?\\d|\\(0\\)${gap}?\\d){6,16}`);
const northAmerican = new RegExp(`^(?:1[ .-])?(?:\\([2-9]\\d\\d\\) ?|[2-9]\\d\\d([ .-]))[2-9]\\d\\d(?:\\1|[-. ])\\d{4}(?![\\d-])`);
const trunk = new RegExp(`^\\(?0\\d{1,5}\\)?(?:${gap}\\d{1,8}){1,5}(?!\\d)`);
const area = /^\(\d{2,5}\) ?\d{3,5}[ -]?\d{2,4}(?:[ -]\d{2})?(?!\d)/;
const chinese = /^1[3-9]\d([ -])\d{4}\1\d{4}(?![\d-])/;
const russian = /^8 ?\(\d{3}\) ?\d{3}-\d\d-\d\d(?!\d)/;
const anyPhone = /^\(?\d(?:[ .\-()/]{0,2}\d){6,12}(?!\d)/;
const date = /^(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?![./-]?\d)|\d{4}([./-])\d{1,2}\2\d{1,2}(?!\d))/;
/** Countries whose numbers begin with 0 at home. */
const homes: readonly CountryCode[] = ["GB", "FR", "DE", "IT", "NL", "AU", "JP", "KR", "CH", "SE"];

/** How long the phone's number is that the text begins with, or 0. */
function phoneIn(window: string, next: string, labelled: boolean, asked: Asked): number {
	const fits = (shape: RegExp): string | undefined => {
		const found = shape.exec(window)?.[0];
		return found === undefined || (found.length === window.length && /[A-Za-z_@]/.test(next)) ? undefined : found;
	};
	if (window[0] === "+" || window.startsWith("00")) {
		const found = fits(international);
		if (found === undefined) return 0;
		const digits = found.replace(/^00/, "+").replace("(0)", "");
		return isValid(digits, undefined, asked) ? found.length : 0;
	}
	if (date.test(window)) return 0;
	const american = fits(northAmerican);
	if (american !== undefined && isValid(american, "US", asked)) return american.length;
	const sure = fits(russian) ?? fits(chinese) ?? fits(area);
	if (sure !== undefined) {
		const count = sure.replace(/\D/g, "").length;
		if (count >= 8 && count <= 12) return sure.length;
	}
	const home = fits(trunk);
	if (home !== undefined) {
		const count = home.replace(/\D/g, "").length;
		if (count >= 9 && count <= 12 && homes.some((country) => isValid(home, country, asked))) return home.length;
	}
	if (!labelled) return 0;
	return fits(anyPhone)?.length ?? 0;
}

function isValid(text: string, country: CountryCode | undefined, asked: Asked): boolean {
	if (asked.questions >= mostQuestions) return true;
	asked.questions++;
	return parsePhoneNumberFromString(text, country)?.isValid() ?? false;
}

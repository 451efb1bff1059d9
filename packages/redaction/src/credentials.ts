// Credentials that are recognisable by their format: vendors' keys, bearer tokens, JWTs, PEM keys.
import { type Answer, endOfRun, type Place, type Rest, startsHere } from "./rule.ts";

interface KeyFormat {
	/** The source of a pattern, without groups. */
	readonly prefix: string;
	/** The characters that follow it, as a class. */
	readonly characters: string;
	/** The minimum number of them. With the prefix at most `lookAhead` of the scanner. */
	readonly min: number;
	/** The maximum length. Absent: there is none, and the whole key is masked. */
	readonly max?: number;
}

/** A prefix that many other words share: the rest of the key must look random. */
const common = "sk-";

const format = (prefix: string, characters: string, min: number, max?: number): KeyFormat => ({
	prefix,
	characters,
	min,
	...(max === undefined ? {} : { max }),
});

const word = "[A-Za-z0-9]";
const url = "[A-Za-z0-9_-]";
const hex = "[0-9a-f]";

/** By vendor. Vendors with the same format share a line. */
const formats: Readonly<Record<string, KeyFormat>> = {
	"OpenAI, Anthropic, OpenRouter, DeepSeek": format(common, url, 20),
	Stripe: format("[rs]k_(?:live|test)_", word, 16),
	"AWS access key": format("A(?:KI|SI)A", "[A-Z0-9]", 16, 16),
	GitHub: format("gh[oprsu]_", word, 30),
	"GitHub, fine-grained": format("github_pat_", "[A-Za-z0-9_]", 22),
	GitLab: format("glpat-", url, 20),
	Slack: format("xox[abeprs]-", "[A-Za-z0-9-]", 16),
	Google: format("AIza", url, 35, 35),
	SendGrid: format("SG\\.", "[A-Za-z0-9_.-]", 40),
	Twilio: format("SK", hex, 32, 32),
	npm: format("npm_", word, 36, 36),
	"Hugging Face": format("hf_", word, 30),
	DigitalOcean: format("do[opr]_v1_", hex, 64, 64),
	Shopify: format("shp(?:at|ca|pa|ss)_", "[A-Fa-f0-9]", 32, 32),
	Mailgun: format("key-", "[0-9a-f]", 32, 32),
	PyPI: format("pypi-", url, 50),
	Databricks: format("dapi", hex, 32, 32),
	Linear: format("lin_api_", word, 32),
	Notion: format("ntn_", word, 40),
	Groq: format("gsk_", word, 40),
	Replicate: format("r8_", word, 30),
	"HashiCorp Vault": format("hv[bs]\\.", url, 24),
	Supabase: format("sb(?:p|_secret)_", "[A-Za-z0-9_]", 24),
};

/** The source of a pattern that matches the start of every key. */
export const keyStart: string = `(?<![A-Za-z0-9_-])(?:${Object.values(formats)
	.map(({ prefix, characters, min }) => `${prefix}${characters}{${min}}`)
	.join("|")})`;

const known = Object.values(formats).map(({ prefix, characters, min, max }) => ({
	pattern: new RegExp(`${prefix}(${characters}{${min}})`, "y"),
	run: new RegExp(`${characters}+`, "y"),
	isExact: max !== undefined,
	isCommon: prefix === common,
	/** The first characters of its prefix. */
	firsts: /^\[(\w+)]/.exec(prefix)?.[1] ?? (prefix[0] as string),
}));

/** The characters that keys start with. */
export const keyFirsts: string = [...new Set(known.flatMap(({ firsts }) => [...firsts]))].join("");
const byFirst: ReadonlyMap<string, typeof known> = new Map(
	Array.from(keyFirsts, (first) => [first, known.filter(({ firsts }) => firsts.includes(first))]),
);

const restOfKey: Rest = { part: /[A-Za-z0-9_-]+/y };

/** Matches a vendor's key. A match that starts like a word must look random: a hyphenated word is not a key. */
export function keyAt({ text, at, isWhole }: Place): Answer {
	for (const { pattern, run, isExact, isCommon } of byFirst.get(text[at] as string) ?? []) {
		pattern.lastIndex = at;
		const [found, key = ""] = pattern.exec(text) ?? [];
		if (found === undefined) continue;
		const end = at + found.length;
		if (isExact && end === text.length && !isWhole) return "more";
		if ((isCommon && !looksRandom(key)) || (isExact && endOfRun(run, text, end) > end)) continue;
		return { start: at, end, type: "api-key", ...(isExact ? {} : { rest: restOfKey }) };
	}
	return undefined;
}

function looksRandom(text: string): boolean {
	return /\d/.test(text) ? /[A-Za-z]/.test(text) : /[a-z][A-Z]|[A-Z][a-z]/.test(text);
}

const jwtHead = /eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8}/y;
const jwtSoFar = /eyJ[A-Za-z0-9_-]{0,4096}(?:\.[A-Za-z0-9_-]{0,8})?/y;
const restOfToken: Rest = { part: /[A-Za-z0-9_.~+/=-]+/y };

/** Matches a JWT, signed or encrypted: its head is JSON in base64, and more follows. */
export function jwtAt({ text, at, isWhole }: Place): Answer {
	const end = endOfRun(jwtHead, text, at);
	if (end > at) return { start: at, end, type: "jwt", rest: restOfToken };
	return !isWhole && endOfRun(jwtSoFar, text, at) === text.length ? "more" : undefined;
}

/** The source of a pattern for the word before a token, up to a limited length. */
export const bearerStart =
	"(?:[Bb]earer|BEARER)(?=[ \\t]{0,4}(?:[A-Za-z0-9_.~+/=-]{16}|[A-Za-z0-9_.~+/=-]{0,15}$))";
/** The source of a pattern for the start of a JWT. */
export const jwtStart = "(?<![A-Za-z0-9_-])eyJ(?=[A-Za-z0-9_-]{8})";

const bearer = /bearer[ \t]{1,4}/iy;
const tokenStart = /[A-Za-z0-9_.~+/=-]{1,16}/y;

/** Matches a token after the word "bearer": at least 16 characters that look random, unlike a word of a sentence. */
export function bearerAt(place: Place): Answer {
	const { text, at, isWhole } = place;
	if (!startsHere(place)) return undefined;
	const from = endOfRun(bearer, text, at);
	if (!isWhole && (from === text.length || at + "bearer".length === text.length)) return "more";
	if (from === at) return undefined;
	const end = endOfRun(tokenStart, text, from);
	if (end - from < 16) return end === text.length && !isWhole ? "more" : undefined;
	if (!looksRandom(text.slice(from, end))) return undefined;
	return { start: from, end, type: "bearer-token", rest: restOfToken };
}

const pemHead =
	/-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=:]{8}/y;
const pemHeadSoFar = /-----BEGIN [A-Z0-9 ]{0,60}-{0,5}(?:\s|\\[nr]?){0,4}[A-Za-z0-9+/=:]{0,8}/y;
const pemLast = /-----END [A-Z0-9 ]{1,60}-----/y;
const restOfPem: Rest = {
	part: /(?:[A-Za-z0-9+/=\s\\:,()._]|-(?!-{4}|-{0,3}$))+/y,
	last: pemLast,
	unsure: /-{1,5}$|-----(?:E(?:N(?:D(?: [A-Z0-9 ]{0,60}-{0,5})?)?)?)?$/y,
};

/** Matches a private key in PEM, including one in a single line with escaped `\n`, or without its end. */
export function pemAt({ text, at, isWhole }: Place): Answer {
	const end = endOfRun(pemHead, text, at);
	if (end > at) return { start: at, end, type: "private-key", rest: restOfPem };
	return !isWhole && endOfRun(pemHeadSoFar, text, at) === text.length ? "more" : undefined;
}

/** Words for the offline model: tokens, stems, and small lists of general English. No topic of any project. */

function list(words: string): ReadonlySet<string> {
	return new Set(words.split(/\s+/).filter((word) => word !== ""));
}

/** Words that carry no content in a question. */
const STOP_WORDS = list(`
a an the this that these those it its itself they them their there here he she his her we us our you your i me my
is are was were be been being am do does did done doing has have had having can could will would shall should may might must
of in on at to from for with without within by as into onto about over under between through during per via than then
and or not no nor but if so because while both either neither also too very just only even still yet such
what which who whom whose where when why how whats wheres hows
all any each every some many much more most other another several
please tell show give find list name explain describe summarize summarise say said says see look read check answer
me according inside contains contain mention mentioned mentions listed lists written documented stated exist exists
after before until instead rather around among via whether up out off down again ever get gets got let lets know like
`);

/** Words that count little: they phrase a question more often than they name what it is about. */
const WEAK_WORDS = list(`
use used uses using usage provide provides provided offer offers support supports supported allow allows make makes made
need needs want work works working happen happens define defined defines declared implement implemented implements
project repository repo package library codebase code file files document documents documentation docs section part
thing things way ways kind kinds type types value values available different main current specific particular certain
mean means purpose exactly following example called name names named new set sets given give take takes returned
total number count introduced added changed latest newest last first recent currently possible recommended
full complete overall actual actually normally usually default defaults bug bugs various own one two
run running module software program application app system tool there's it's come comes
version versions release releases released accept accepts accepted expect expects apply applies expose exposes include
includes included require requires required read reads write written writes contain located stored live lives
long often far big large small high low fast slow old
came come comes brought bring brings
`);

/** Modifiers that a heading may lack and still be the list that was asked for. */
const LOOSE_MODIFIERS = list(`
new bug main key notable available supported existing current various possible different valid known public built
`);

const SYNONYM_GROUPS: readonly string[] = [
	"license licence",
	"remove delete drop",
	"add introduce new",
	"install setup installation",
	"config configuration configure setting option",
	"environment env",
	"variable var",
	"directory folder dir",
	"author maintainer creator wrote written maintain",
	"require need minimum prerequisite engine requirement",
	"argument parameter param",
	"function method",
	"command cmd",
	"deprecate obsolete",
	"break breaking major incompatible",
	"maximum max",
	"minimum min",
	"authentication auth authenticate",
	"dependency dep",
	"database db",
	"javascript js",
	"typescript ts",
	"fix bugfix",
	"feature feat",
	"homepage website",
	"start launch",
	"error exception",
	"throw raise",
	"default fallback",
	"limit maximum",
	"expire expiry expiration ttl",
	"test testing spec",
	"docs documentation",
	"run execute start",
	"compile build",
	"disable turn",
	"enable turn",
	"password passphrase",
	"cost price",
];

const SYNONYMS: ReadonlyMap<string, ReadonlySet<string>> = (() => {
	const map = new Map<string, Set<string>>();
	for (const group of SYNONYM_GROUPS) {
		const stems = group.split(" ").map(stem);
		for (const one of stems) {
			const others = map.get(one) ?? new Set<string>();
			for (const other of stems) if (other !== one) others.add(other);
			map.set(one, others);
		}
	}
	return map;
})();

/** Is this a word without content? */
export function isStopWord(word: string): boolean {
	return STOP_WORDS.has(word.toLowerCase());
}

/** Is this a word that counts little? */
export function isWeakWord(word: string): boolean {
	return WEAK_WORDS.has(word.toLowerCase());
}

/** May a heading lack this word and still answer? */
export function isLooseModifier(word: string): boolean {
	return LOOSE_MODIFIERS.has(word.toLowerCase());
}

/** Stems that mean much the same as this stem. */
export function synonymsOf(stemmed: string): ReadonlySet<string> {
	return SYNONYMS.get(stemmed) ?? new Set();
}

/** The stem of an English word: "reading" and "reads" → "read". Meant for comparing, not for reading. */
export function stem(word: string): string {
	let text = word.toLowerCase();
	if (text.length <= 3 || /\d/.test(text)) return text;
	if (text.endsWith("'s")) text = text.slice(0, -2);
	if (text.endsWith("ies") && text.length > 4) text = `${text.slice(0, -3)}y`;
	else if (/(?:ss|sh|ch|x|z)es$/.test(text)) text = text.slice(0, -2);
	else if (text.endsWith("s") && !/(?:ss|us|is)$/.test(text)) text = text.slice(0, -1);
	if (text.endsWith("ing") && text.length > 5 && hasVowel(text.slice(0, -3)))
		text = undouble(text.slice(0, -3));
	else if (text.endsWith("ied") && text.length > 4) text = `${text.slice(0, -3)}y`;
	else if (/[^e]ed$/.test(text) && text.length > 4 && hasVowel(text.slice(0, -2)))
		text = undouble(text.slice(0, -2));
	else if (text.endsWith("ion") && text.length > 6) text = text.slice(0, -3);
	else if (text.endsWith("ment") && text.length > 7) text = text.slice(0, -4);
	if (text.endsWith("e") && text.length > 4) text = text.slice(0, -1);
	if (text.endsWith("at") && text.length > 6) text = text.slice(0, -2).replace(/ll$/, "l");
	if (text.endsWith("y") && text.length > 4) text = `${text.slice(0, -1)}i`;
	return text;
}

/** Without a vowel it was no ending: "string", "speed". */
function hasVowel(text: string): boolean {
	return /[aeiouy]/.test(text);
}

function undouble(text: string): string {
	const last = text.at(-1);
	return text.length > 3 && last === text.at(-2) && !/[lsz]/.test(last as string) ? text.slice(0, -1) : text;
}

/** The words of a text, in order, lower case; names written as one are also split: "createServer" → create, server. */
export function wordsOf(text: string): string[] {
	const words: string[] = [];
	for (const [token] of text.matchAll(/[\p{L}\p{N}_$]+(?:['’][a-z]+)?/gu)) {
		const parts = splitName(token);
		for (const part of parts) words.push(part);
		if (parts.length > 1) words.push(token.replace(/[_$]/g, "").toLowerCase());
	}
	return words;
}

/** The parts of a name written in camel, snake or kebab case, lower case. */
export function splitName(name: string): string[] {
	// Most words are plain, and this is called for every word of every file.
	if (/^[a-z]+$/.test(name)) return [name];
	return name
		.replace(/['’]s$/, "")
		.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
		.replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
		.split(/[\s_$'’-]+/)
		.filter((part) => part !== "")
		.map((part) => part.toLowerCase());
}

/** The stems of a text. */
export function stemsOf(text: string): Set<string> {
	const stems = new Set<string>();
	for (const word of wordsOf(text)) stems.add(cachedStem(word));
	return stems;
}

const stemCache = new Map<string, string>();

function cachedStem(word: string): string {
	let known = stemCache.get(word);
	if (known === undefined) {
		// A cache that may be thrown away whole keeps the memory bounded.
		if (stemCache.size > 20_000) stemCache.clear();
		known = stem(word);
		stemCache.set(word, known);
	}
	return known;
}

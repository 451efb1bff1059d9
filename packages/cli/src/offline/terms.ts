/** The words of a question: which are names, which tell something, and how each is looked for. */
import { isStopWord, isWeakWord, splitName, stem, synonymsOf, wordsOf } from "./words.ts";

/** A word or name of the task, as it is searched for. */
export interface Term {
	readonly text: string;
	/** Stems that must all be there for the term to match. */
	readonly stems: readonly string[];
	/** Stems that mean much the same; only for terms of one word. */
	readonly synonyms: ReadonlySet<string>;
	/** A name, a quotation or a flag: it must be found as it is written. */
	readonly exact: boolean;
	/** A word that phrases the question more than it names its subject. */
	readonly weak: boolean;
	/** The question calls it an option, a function or the like: it is likely a name. */
	readonly named?: boolean;
	/** A capitalised name in the middle of a sentence: an answer without it is no answer. */
	readonly proper?: boolean;
}

const QUOTED = /`([^`\n]{1,200})`|"([^"\n]{1,200})"|“([^”\n]{1,200})”|(?<!\w)'([^'\n]{2,200})'(?!\w)/g;

const NOUNS =
	"option|options|setting|flag|parameter|param|argument|function|method|class|interface|type|struct|enum|constant|variable|property|field|key|command|script|hook|component|module|macro|table|column|target|job|task|endpoint";
const NOUN = new RegExp(`^(?:${NOUNS})s?$`, "i");
/** "the `retries` option", "option `retries`": the word beside such a noun is a name. */
const NAMED_BEFORE = new RegExp(`\\b(?:the|a|an|is|of|does|do)\\s+([\\w$-]{2,})\\s+(?:${NOUNS})\\b`, "gi");
const NAMED_DEFAULT =
	/\bdefault\s+(?:value\s+)?(?:of\s+|for\s+)?(?:the\s+)?(?:[\w-]+\s+){0,2}?([\w$-]{2,})\s*(?:[?.,]|$|option|setting|of\b|in\b|for\b|when\b)/gi;
const NAMED_AFTER = new RegExp(`\\bthe\\s+(?:${NOUNS})\\s+(?:called\\s+|named\\s+)?([\\w$-]{2,})`, "gi");

/** The terms of a text, in order, each once. */
export function termsOf(text: string): Term[] {
	const terms: Term[] = [];
	const seen = new Set<string>();
	const add = (term: Term): void => {
		const key = term.exact ? `"${term.text.toLowerCase()}` : term.stems.join(" ");
		if (key === "" || seen.has(key)) return;
		seen.add(key);
		terms.push(term);
	};
	let rest = text.replace(QUOTED, (_whole, ...groups: (string | undefined)[]) => {
		const quoted = (groups.slice(0, 4).find((group) => group !== undefined) ?? "")
			.replace(/\(\)$/, "")
			.trim();
		if (quoted !== "") add(exactTerm(quoted));
		return " ";
	});
	// Names that only code has: flags, calls, dotted, snake and camel case.
	rest = rest.replace(
		/\b[A-Z]\w*\/[\w.]+|--?[a-z][\w-]*|@[\w-]+\/[\w.-]+|[\p{L}_$][\w$]*(?:(?:\.|::|#|->)[\p{L}_$][\w$]*)+(?:\(\))?|[\p{L}_$][\w$]*\(\)|\b\w+_\w+\b|\b[a-z]+\p{Lu}\w*|\b\p{Lu}[a-z]+\p{Lu}\w*|\b\p{Lu}{2,}[a-z]\w+/gu,
		(name) => {
			if (/^-[a-z]/.test(name) && !/(?:^|\s)-/.test(rest)) return name;
			add(exactTerm(name.replace(/\(\)$/, "")));
			return " ";
		},
	);
	const names = new Set(
		[...rest.matchAll(NAMED_BEFORE), ...rest.matchAll(NAMED_AFTER), ...rest.matchAll(NAMED_DEFAULT)]
			.map((match) => (match[1] as string).toLowerCase())
			.filter((word) => !isWeakWord(word) && !isStopWord(word) && !NOUN.test(word)),
	);
	const words = (rest.match(/[\p{L}\p{N}][\p{L}\p{N}'’+#-]*/gu) ?? []).map((raw) =>
		raw.replace(/['’]s$/, "").replace(/-+$/, ""),
	);
	for (const [index, word] of words.entries()) {
		if (isStopWord(word) || (word.length < 2 && !/[A-Z\d]/.test(word))) continue;
		const stems = wordsOf(word).map(stem);
		const only = stems.length === 1 ? (stems[0] as string) : undefined;
		const named = names.has(word.toLowerCase());
		// "pool size" may be written `poolSize` or `poolsize`.
		const joined = [words[index - 1], words[index + 1]].flatMap((next, side) =>
			next === undefined || isStopWord(next) || only === undefined
				? []
				: [stem(side === 0 ? next + word : word + next)],
		);
		add({
			text: word,
			stems,
			synonyms: only === undefined ? new Set() : new Set([...synonymsOf(only), ...joined]),
			exact: false,
			named,
			proper: index > 0 && /^\p{Lu}\p{Ll}+$/u.test(word),
			weak:
				isWeakWord(word) ||
				((names.size > 0 || terms.some((term) => term.exact)) && !named && NOUN.test(word)),
		});
	}
	return terms;
}

/** Asked who, "wrote" and "author" may be told as "created by" too. */
export function asMaker(term: Term): Term {
	return term.stems[0] === stem("author") || term.synonyms.has(stem("author"))
		? { ...term, synonyms: new Set([...term.synonyms, stem("created")]) }
		: term;
}

function exactTerm(text: string): Term {
	return {
		text,
		stems: splitName(text.replace(/[^\p{L}\p{N}_$-]+/gu, " ")).map(stem),
		synonyms: new Set(),
		exact: true,
		weak: false,
	};
}

/** Reads a task: what kind of answer it wants, which files it names, and the words that matter. */
import { escapeExpression } from "../tools/ignore-rules.ts";
import { isStopWord, isWeakWord, splitName, stem, synonymsOf, wordsOf } from "./words.ts";

/** The kinds of answer the offline model can put together. */
export type QuestionKind =
	| "overview"
	| "list"
	| "count"
	| "definition"
	| "where"
	| "how"
	| "when"
	| "changes"
	| "value"
	| "who"
	| "general";

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

/** An analysed task. */
export interface Question {
	readonly task: string;
	readonly kind: QuestionKind;
	/** Files of the project that the task names. */
	readonly files: readonly string[];
	/** Directories of the project that the task names. */
	readonly directories: readonly string[];
	/** Names in the task that look like files and are not there. */
	readonly missingFiles: readonly string[];
	readonly versions: readonly string[];
	/** The release asked for is the newest one. */
	readonly latest: boolean;
	readonly terms: readonly Term[];
	/** Words of the thing to list or count: "breaking changes" → ["breaking", "changes"]. */
	readonly focus: readonly string[];
}

const FILE_NAME =
	/(?<![\w./@-])(?:\.{0,2}\/)?(?:[\w@.+-]+\/)*[\w@+-]*\.?[\w+-]+\.[a-z][a-z\d]{0,9}(?![\w/(])/gi;
const VERSION =
	/(?<![\w.])v?(\d+(?:\.(?:\d+|x))+(?:-[\w.]+)?)(?!\w)|\b(?:version|release|v)\s*\.?\s*(\d+(?:\.(?:\d+|x))*)\b/gi;
const QUOTED = /`([^`\n]{1,200})`|"([^"\n]{1,200})"|“([^”\n]{1,200})”|(?<!\w)'([^'\n]{2,200})'(?!\w)/g;

/** Analyses a task against the files of the project. */
export function analyseQuestion(task: string, paths: readonly string[]): Question {
	const asked = filesNamed(task, paths);
	// "What is the license?" names a file only by the way; the word itself is the subject.
	const named = withoutMentions(task, asked.mentions) ? asked : { ...asked, files: [], mentions: [] };
	let rest = task;
	for (const mention of named.mentions) rest = rest.replaceAll(mention, " ");
	const versions: string[] = [];
	rest = rest.replace(VERSION, (_whole, dotted: string | undefined, plain: string | undefined) => {
		versions.push((dotted ?? plain ?? "").toLowerCase().replace(/(?:\.x)+$/, ""));
		return " ";
	});
	const latest =
		versions.length === 0 &&
		/\b(?:latest|newest|most recent|last|current)\s+(?:\w+\s+)?(?:version|release|update|change)/i.test(task);
	const kind = kindOf(task, versions.length > 0 || latest);
	return {
		task,
		kind,
		files: named.files,
		directories: named.directories,
		missingFiles: named.missing,
		versions,
		latest,
		terms: termsOf(rest),
		focus: kind === "list" || kind === "count" || kind === "changes" ? focusOf(rest) : [],
	};
}

/** Is there anything left to ask when the names of files are taken away? */
function withoutMentions(task: string, mentions: readonly string[]): boolean {
	if (mentions.length === 0 || mentions.some((mention) => /[./]|^[A-Z]{2,}/.test(mention))) return true;
	let rest = task;
	for (const mention of mentions) rest = rest.replaceAll(mention, " ");
	return (
		termsOf(rest).some((term) => !term.weak) ||
		rest.search(VERSION) >= 0 ||
		/\b(?:summar|overview|describe|about|section|heading|line|version|release)/i.test(rest)
	);
}

function kindOf(task: string, release: boolean): QuestionKind {
	const text = task.toLowerCase().replace(/\s+/g, " ");
	if (/\bhow (?:many|much)\b|\b(?:number|count) of\b|^count\b/.test(text)) return "count";
	if (
		release &&
		/\b(?:what(?:'?s| is| was| has| are| were)?|which|list|show|summari[sz]e|tell me).{0,40}\b(?:chang|new\b|came\b|come\b|differ|happen|update|add|fix|remov|improv|break|deprecat)/.test(
			text,
		)
	)
		return "changes";
	if (
		/\bwhen\b|\b(?:which|what|in what|in which|since which) (?:version|release)\b.{0,60}\b(?:add|introduc|remov|drop|fix|chang|deprecat|releas|first|start|began|support|appear|land|rename)|\bwhat date\b|\brelease date\b|\bsince when\b/.test(
			text,
		)
	)
		return "when";
	if (
		/^(?:please )?(?:summari[sz]e|give (?:me )?(?:an? )?(?:overview|summary)|describe)\b|\b(?:overview|summary) of\b|\bwhat(?:'s| is| does) (?:this|the) (?:project|repo|repository|package|library|module|tool|codebase|code base|folder|directory|program|app)(?: (?:about|for|do|all about|used for))?\s*[?.,]|\bwhat is (?:this|it)(?: about)?\s*\?|\bwhat is (?:this|the) (?:project|repo|repository|codebase|package|library)\b/.test(
			text,
		)
	)
		return "overview";
	if (
		/\bwhere\b|\b(?:in )?(?:which|what) (?:file|files|module|line|directory|folder)\b.{0,80}\b(?:defin|declar|implement|contain|export|live|locat|configur|handl|set|creat|hold|find|is|are|has|does)/.test(
			text,
		)
	)
		return "where";
	if (/\bwho\b|\bwhose\b/.test(text)) return "who";
	if (/\bdefault(?:s)?\b/.test(text) && !/^(?:which|list|what are)\b.{0,30}\bdefaults\b/.test(text))
		return "value";
	if (
		/\bhow (?:do|can|should|would|to|does one|must|is|are|does)\b|\bhow to\b|\bsteps to\b|\binstructions? (?:for|to)\b|\bwhat command\b|\bwhich command\b/.test(
			text,
		)
	)
		return /\bhow (?:is|are|does)\b/.test(text) && !/\bhow (?:do|can|to)\b/.test(text) ? "general" : "how";
	if (
		/\bwhat (?:does|do|is|are)\b.{0,100}\b(?:do|return|mean|for)\s*\??\s*$|\bwhat (?:is|'s) (?:the purpose|an?|`|the `|the (?:function|class|method|meaning|role))|^define\b|\bexplain\b|\bpurpose of\b|\bwhat does\b.{0,80}\b(?:do|return|mean|accept|take|stand for)\b/.test(
			text,
		)
	)
		return "definition";
	// "Which license …" asks for one thing, "which licenses …" for a list.
	const head =
		/^(?:so |and |now )?(?:in \S+ )?(?:what|which)\s+(?:is\s+the\s+)?((?:[a-z-]+\s+){1,3}?)(?:does|do|is|was|did|has|can|must|should)\b/
			.exec(text)?.[1]
			?.trim();
	if (
		/^(?:so |and |now )?(?:what|which)\s+(?:[a-z-]+\s+){0,2}?(?!does|is|was|has)[a-z-]{2,}[^su\W]s\b(?!\s+(?:is|was|does|has)\b)/.test(
			text,
		)
	)
		return "list";
	if (head !== undefined && !head.endsWith("s") && !/\b(?:are|do)\b/.test(text)) return "value";
	if (
		/\blist\b|\benumerate\b|\bname (?:all|the|every|each)\b|\bwhat (?:are|were)\b|\bwhich\b.{1,60}\b(?:are|does|do|have|has|were|exist|is|did|can)\b|\bwhat\b.{1,60}\b(?:are there|does|do|are|were|exist|can)\b|\b(?:show|give)(?: me)?(?: all)? the\b|\ball (?:the )?\w+/.test(
			text,
		)
	)
		return "list";
	if (/\bwhat (?:is|was)\b|\bwhich\b|\bwhat\b.{1,40}\b(?:is|was|does)\b/.test(text)) return "value";
	return "general";
}

/** The project's own name tells nothing about where in it to look, unless nothing else was asked. */
export function withoutProjectNames(question: Question, names: ReadonlySet<string>): Question {
	const isName = (term: Term): boolean => names.has(term.text.toLowerCase());
	if (!question.terms.some((term) => !term.weak && !isName(term))) return question;
	return {
		...question,
		terms: question.terms.map((term) => (isName(term) ? { ...term, weak: true, exact: false } : term)),
	};
}

interface NamedFiles {
	readonly files: readonly string[];
	readonly directories: readonly string[];
	readonly missing: readonly string[];
	/** The words of the task that named them. */
	readonly mentions: readonly string[];
}

function filesNamed(task: string, paths: readonly string[]): NamedFiles {
	const files = new Set<string>();
	const directories = new Set<string>();
	const missing: string[] = [];
	const mentions: string[] = [];
	const all = new Set<string>();
	for (const path of paths)
		for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1))
			all.add(path.slice(0, cut));
	for (const [raw] of task.matchAll(FILE_NAME)) {
		if (/^v?\d+(?:\.\d+)*(?:\.x)?$/i.test(raw) || /^(?:e\.g|i\.e|etc)\.?$/i.test(raw)) continue;
		const name = raw.replace(/^\.?\//, "");
		const found = pathsEnding(name, paths);
		if (found.length > 0) {
			for (const path of found.slice(0, 5)) files.add(path);
			mentions.push(raw);
		} else if (looksLikeFile(name)) {
			missing.push(name);
			mentions.push(raw);
		}
	}
	for (const raw of task.match(/(?<![\w.])(?:\.\/)?[\w@.-]+(?:\/[\w@.-]+)*\/?(?![\w.])/g) ?? []) {
		const name = raw.replace(/^\.\/|\/$/g, "").replace(/[.]+$/, "");
		const slashed = raw.includes("/");
		if (
			mentions.includes(raw) ||
			(slashed
				? false
				: !new RegExp(
						`\\b(?:in|under|inside|of|from|within|the)\\s+(?:the\\s+)?\`?${escapeExpression(name)}\`?/?\\s*(?:folder|directory|dir)\\b`,
						"i",
					).test(task))
		)
			continue;
		const matching = [...all].filter((directory) => directory === name || directory.endsWith(`/${name}`));
		if (matching.length > 0) {
			directories.add(matching[0] as string);
			mentions.push(raw);
		} else if (slashed && paths.includes(name)) {
			files.add(name);
			mentions.push(raw);
		}
	}
	// "the changelog" names a file by its stem; words in capitals name one by custom.
	for (const word of task.match(/[\w-]+/g) ?? []) {
		if (word.length < 4 || isStopWord(word) || mentions.some((mention) => mention.includes(word))) continue;
		const capitals = /^[A-Z][A-Z_-]+$/.test(word);
		const before = new RegExp(
			`\\b(?:the|in|from|of|read|our|this)\\s+(?:the\\s+|this\\s+)?\`?${escapeExpression(word)}\\b`,
			"i",
		).test(task);
		const found = paths.filter(
			(path) =>
				stemOfPath(path) === word.toLowerCase() &&
				(capitals || !path.includes("/")) &&
				/(?:^|\/)[^/]*$/.test(path),
		);
		const prose = found.filter(
			(path) =>
				/\.(?:md|markdown|rst|txt|adoc|mdx)$|\/?[A-Z]+$/i.test(path) &&
				!/\.\w+$/.test(path.replace(/\.(?:md|markdown|rst|txt|adoc|mdx)$/i, "")),
		);
		if (prose.length === 0 || !(capitals || before)) continue;
		const nearest = Math.min(...prose.map((path) => path.split("/").length));
		for (const path of prose.filter((one) => one.split("/").length === nearest).slice(0, 3)) files.add(path);
		mentions.push(word);
	}
	return {
		files: [...files],
		directories: [...directories],
		missing,
		mentions: mentions.sort((a, b) => b.length - a.length),
	};
}

/** Does an unknown dotted word look like a file, rather than like `object.method` or a web address? */
function looksLikeFile(name: string): boolean {
	return /\.(?:md|mdx|txt|rst|adoc|json|jsonc|ya?ml|toml|ini|cfg|conf|env|lock|csv|xml|html?|css|scss|[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|sql|vue|svelte|lua|pl|ex|exs|scala|tf|proto|graphql|log|pdf)$/i.test(
		name,
	);
}

function stemOfPath(path: string): string {
	const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
	const dot = name.indexOf(".", 1);
	return dot > 0 ? name.slice(0, dot) : name;
}

/** The paths that end with this name, whole segments only; the nearest ones to the root. */
function pathsEnding(name: string, paths: readonly string[]): string[] {
	const wanted = name.toLowerCase();
	const found = paths.filter((path) => {
		const lower = path.toLowerCase();
		return lower === wanted || lower.endsWith(`/${wanted}`);
	});
	const exact = found.filter((path) => path === name);
	if (exact.length > 0) return exact;
	const nearest = Math.min(...found.map((path) => path.split("/").length));
	const near = found.filter((path) => path.split("/").length === nearest);
	return nearest === 1 || name.includes("/") ? near : found;
}

const NOUNS =
	"option|options|setting|flag|parameter|param|argument|function|method|class|interface|type|struct|enum|constant|variable|property|field|key|command|script|hook|component|module|macro|table|column|target|job|task|endpoint";
const NOUN = new RegExp(`^(?:${NOUNS})$`, "i");
/** "the `retries` option", "option `retries`": the word beside such a noun is a name. */
const NAMED_BEFORE = new RegExp(`\\b(?:the|a|an|is|of|does|do)\\s+([\\w$-]{2,})\\s+(?:${NOUNS})\\b`, "gi");
const NAMED_DEFAULT =
	/\bdefault\s+(?:value\s+)?(?:of\s+|for\s+)?(?:the\s+)?(?:[\w-]+\s+){0,2}?([\w$-]{2,})\s*(?:[?.,]|$|option|setting|in\b|for\b|when\b)/gi;
const NAMED_AFTER = new RegExp(`\\bthe\\s+(?:${NOUNS})\\s+(?:called\\s+|named\\s+)?([\\w$-]{2,})`, "gi");

function termsOf(text: string): Term[] {
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
		/\b[A-Z]\w*\/[\w.]+|--?[a-z][\w-]*|@[\w-]+\/[\w.-]+|[\p{L}_$][\w$]*(?:(?:\.|::|#|->)[\p{L}_$][\w$]*)+(?:\(\))?|[\p{L}_$][\w$]*\(\)|\b\w+_\w+\b|\b[a-z]+\p{Lu}\w*|\b\p{Lu}[a-z]+\p{Lu}\w*/gu,
		(name) => {
			if (/^-[a-z]/.test(name) && !/(?:^|\s)-/.test(rest)) return name;
			add(exactTerm(name.replace(/\(\)$/, "")));
			return " ";
		},
	);
	const names = new Set(
		[...rest.matchAll(NAMED_BEFORE), ...rest.matchAll(NAMED_AFTER), ...rest.matchAll(NAMED_DEFAULT)]
			.map((match) => (match[1] as string).toLowerCase())
			.filter((word) => !isWeakWord(word) && !isStopWord(word)),
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
			weak: isWeakWord(word) || (names.size > 0 && !named && NOUN.test(word)),
		});
	}
	return terms;
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

const FOCUS_END =
	/^(?:does|do|did|is|are|was|were|in|of|from|has|have|had|can|could|will|should|must|for|exist|exists|there|listed|mentioned|documented|defined|described|that|which|under|by|on|at|to|with|it|its|the|this|a|an|i|we|you|need|needed|used|within|inside|and|or|available|per|since|between|if|when|after|before|been|made|came|come|shipped|released|per|file|project|accept|accepts|support|supports)$/i;

/** The words right after "which", "list", "how many" …: the thing that is to be listed. */
function focusOf(text: string): string[] {
	const clean = text.replace(/[`"“”]/g, "");
	const start =
		/\bhow (?:many|much)\s+(?:different\s+|distinct\s+|total\s+)?/i.exec(clean) ??
		/\b(?:number|count) of\s+(?:the\s+|all\s+)?/i.exec(clean) ??
		/\b(?:list|enumerate|name|show|give)\s+(?:me\s+)?(?:all\s+|every\s+|each\s+)?(?:of\s+)?(?:the\s+)?(?!in\b|for\b|me\b)/i.exec(
			clean,
		) ??
		/\b(?:what|which)\s+(?:are|were|is)\s+(?:all\s+)?(?:the\s+|its\s+|their\s+)?/i.exec(clean) ??
		/\b(?:what|which)\s+(?:of\s+the\s+|all\s+)?(?!does\b|do\b|is\b)/i.exec(clean) ??
		/\ball\s+(?:of\s+)?(?:the\s+)?/i.exec(clean);
	if (!start) return [];
	const words: string[] = [];
	for (const raw of clean.slice(start.index + start[0].length).match(/[\p{L}\p{N}_$-]+|[?.,;:!]/gu) ?? []) {
		if (/^[?.,;:!]$/.test(raw) || (words.length > 0 && FOCUS_END.test(raw))) break;
		if (
			words.length === 0 &&
			FOCUS_END.test(raw) &&
			!/^(?:available|supported|used|file|project)$/i.test(raw)
		)
			continue;
		words.push(raw);
		if (words.length >= 4) break;
	}
	return words;
}

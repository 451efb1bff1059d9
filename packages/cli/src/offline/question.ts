/** Reads a task: what kind of answer it wants, which files it names, and the words that matter. */
import { filesNamed } from "./named-files.ts";
import { asMaker, type Term, termsOf } from "./terms.ts";

export type { Term } from "./terms.ts";

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
	/** Words of the thing to list or count: "which red lamps …" → ["red", "lamps"]. */
	readonly focus: readonly string[];
}

const VERSION =
	/(?<![\w.])v?(\d+(?:\.(?:\d+|x))+(?:-[\w.]+)?)(?!\w)|\b(?:version|release|v)\s*\.?\s*(\d+(?:\.(?:\d+|x))*)\b/gi;

/** Analyses a task against the files of the project. */
export function analyseQuestion(task: string, paths: readonly string[]): Question {
	const asked = filesNamed(task, paths);
	// "What is the guide?" names a file only by the way; the word itself is the subject.
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
		terms: kind === "who" ? termsOf(rest).map(asMaker) : termsOf(rest),
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
	// "Which lamp …" asks for one thing, "which lamps …" for a list.
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

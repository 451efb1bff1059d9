/** Reads a task: what kind of answer it wants, which files it names, and the words that matter. */
import { filesNamed } from "./named-files.ts";
import { kindOf, type QuestionKind } from "./question-kind.ts";
import { asMaker, type Term, termsOf } from "./terms.ts";

export type { Term } from "./terms.ts";

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
	const kind = kindOf(task, { namesRelease: versions.length > 0 || latest });
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
	/^(?:does|do|did|is|are|was|were|in|of|from|has|have|had|can|could|will|should|must|for|exist|exists|there|list|lists|listed|mention|mentions|mentioned|contains|describes|documents|says|documented|defined|described|that|which|under|by|on|at|to|with|it|its|the|this|a|an|i|we|you|need|needed|used|within|inside|and|or|available|per|since|between|if|when|after|before|been|made|came|come|shipped|released|per|file|project|accept|accepts|support|supports)$/i;

/** The words right after "which", "list", "how many" …: the thing that is to be listed. */
function focusOf(text: string): string[] {
	const clean = text.replace(/[`"“”]/g, "");
	const start =
		/\bhow (?:many|much)\s+(?:different\s+|distinct\s+|total\s+)?/i.exec(clean) ??
		/\b(?:number|count) of\s+(?:the\s+|all\s+)?/i.exec(clean) ??
		/\b(?:list|enumerate|name|show|give|summari[sz]e)\s+(?:me\s+)?(?:all\s+|every\s+|each\s+)?(?:of\s+)?(?:the\s+)?(?!in\b|for\b|me\b)/i.exec(
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

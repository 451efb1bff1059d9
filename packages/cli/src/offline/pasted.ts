/** Answers a question about a text that came with it, such as a log that was piped in, from the lines of that text. */
import { cutText } from "@holdfast/upp";
import { termOf, termsOf } from "./passages.ts";
import type { Question } from "./question.ts";

const MOST_LINES = 20;
const LONGEST = 300;
const ASKS_FOR_TROUBLE =
	/\b(?:wrong|errors?|fail\w*|problems?|issues?|bugs?|crash\w*|broken?|breaks?|caus\w*|why|fix\w*|warnings?|debug|diagnos\w*|happen\w*)\b/i;
const ASKS_FOR_ALL =
	/\b(?:summar\w*|explain|overview|tl;?dr|describe|what (?:is|does) (?:this|it)(?: say| about)?)\b/i;
const ERROR =
	/\b(?:errors?|\w*(?:Error|Exception)|exception|fatal|panic|critical|fail(?:ed|ure|s)?|refused|denied|timed? ?out|cannot|could not|unable to|not found|Traceback|segfault|E(?:CONN\w+|ADDR\w+|NOENT|ACCES|PERM|TIMEDOUT|NOTFOUND|PIPE|MFILE|NOSPC))\b/i;
const WARNING = /\bwarn(?:ing)?s?\b/i;
/** Counts that state that nothing failed: "0 errors", "no failures". */
const NONE = /\b(?:0|no|without) (?:errors?|fail\w*|warnings?|exceptions?)\b/i;

/** Lines that are equal apart from numbers. */
interface Finding {
	readonly text: string;
	/** From 1. */
	readonly line: number;
	readonly count: number;
}

/** Returns the answer; undefined if the text contains none. */
export function answerFromText(text: string, asked: string, { words }: Question): string | undefined {
	const lines = text.split("\n").map((line) => line.trimEnd());
	while (lines.at(-1) === "") lines.pop();
	const size = `${lines.length.toLocaleString("en-US")} ${lines.length === 1 ? "line" : "lines"}`;
	const intro = `From the text of ${size} that came with the question:`;
	if (ASKS_FOR_TROUBLE.test(asked)) {
		const errors = find(lines, (line) => ERROR.test(line) && !NONE.test(line));
		const warnings = find(lines, (line) => WARNING.test(line) && !ERROR.test(line) && !NONE.test(line));
		if (errors.length > 0)
			return [intro, ...show("Errors", errors), ...show("Warnings", warnings)].join("\n");
		if (warnings.length > 0)
			return [intro, "It has no line with an error.", ...show("Warnings", warnings)].join("\n");
	}
	const terms = new Set(words.map((word) => termOf(word.text)));
	const counts = lines.map((line) => new Set(termsOf(line).filter((term) => terms.has(term))).size);
	const best = Math.max(0, ...counts);
	if (best > 0 && best >= terms.size / 2)
		return [
			intro,
			...show(
				"",
				find(lines, (_, index) => counts[index] === best),
			),
		].join("\n");
	if (ASKS_FOR_TROUBLE.test(asked) && lines.length > 2)
		return `The text of ${size} that came with the question has no line with an error or a warning.`;
	if (!ASKS_FOR_ALL.test(asked)) return undefined;
	const notable = find(lines, (line) => (ERROR.test(line) || WARNING.test(line)) && !NONE.test(line));
	const first = find(lines.slice(0, 5), (line) => line !== "");
	return [intro, ...show("It begins", first), ...show("Errors and warnings", notable)].join("\n");
}

function find(lines: readonly string[], matches: (line: string, index: number) => boolean): Finding[] {
	const found = new Map<string, Finding>();
	for (const [index, text] of lines.entries()) {
		if (!matches(text, index)) continue;
		const key = text.replaceAll(/\d+/g, "0");
		const known = found.get(key);
		found.set(key, known ? { ...known, count: known.count + 1 } : { text, line: index + 1, count: 1 });
	}
	return [...found.values()];
}

function show(title: string, findings: readonly Finding[]): string[] {
	if (findings.length === 0) return [];
	const shown = findings.slice(0, MOST_LINES).map(({ text, line, count }) => {
		const cut = text.length > LONGEST ? `${cutText(text, LONGEST)}…` : text;
		return `line ${line}${count > 1 ? ` (${count} lines like it)` : ""}: ${cut.trim()}`;
	});
	const left = findings.length - shown.length;
	return [
		"",
		...(title === "" ? [] : [`${title}:`]),
		...shown,
		...(left > 0 ? [`${left} more lines of this kind`] : []),
	];
}

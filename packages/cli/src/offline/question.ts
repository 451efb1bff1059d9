/** Parses a question: the paths that it names and the words that matter. */

/** A word to look for. */
export interface Word {
	readonly text: string;
	/** A passage must contain the names and versions in the question to be an answer. */
	readonly kind: "word" | "name" | "version";
}

/** The parsed question. */
export interface Question {
	readonly words: readonly Word[];
	/** Words that exceed the limit. */
	readonly ignored: readonly Word[];
	/** Files and folders of the project that it names; the answer is limited to them. */
	readonly places: readonly string[];
	/** Names in it that look like files but do not exist. */
	readonly missing: readonly string[];
	/** The weight of a code passage relative to text; 1 for a question about code. */
	readonly codeWeight: number;
	/** Whether it asks what changed, which changelogs answer. */
	readonly asksForChanges: boolean;
}

/** A word, or a name of several joined by marks: `read-only`, `src/heat.ts`, `2.1.0`, `Pump.start`. */
const TOKEN = /[\p{L}\p{N}_$]+(?:(?:[-./@]|::|#)[\p{L}\p{N}_$]+)*/gu;
/** Words that belong to the phrasing of a question. */
const ASKING = new Set(
	tokensOf(`a an the this that these those it its there here and or but not of to in on at by for from with within into as
	if so about i me my we us our you your what which who whose where when why how is are was were be been being do does did
	done can could should would will shall may might must has have had any all some many much most each every other than then
	list show tell give find get explain describe describes mention mentions summarise summarize summary contain contains say
	says said mean means use used uses using work works exist exists called named defined define defines definition declared
	implemented located need needs want please file files folder folders directory project repository repo code line lines
	heading headings section sections`),
);
/** Words about versions: they have little meaning, and none next to a version number. */
export const OF_VERSIONS: RegExp = /^(?:versions?|releases?|released|chang(?:e|es|ed)|new|updates?)$/i;
const CHANGES =
	/\b(?:versions?|releas\w*|chang\w*|new|updat\w*|upgrad\w*|migrat\w*|breaking|fixed|added|removed|renamed|deprecated)\b/i;
const VERSION = /^v?\d+(?:\.\d+)+/;
const FILE_NAME =
	/\.(?:mdx?|txt|rst|adoc|jsonc?|ya?ml|toml|ini|cfg|conf|lock|[ct]sv|xml|html?|s?css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|[ch](?:pp)?|cs|php|sh|sql|vue|log)$/i;
const CODE =
	/\b(?:(?:defin|declar|implement)\w*|(?:function|class|method|interface|constant|column|table|export)(?:e?s)?)\b/i;
/** Maximum number of words searched for. */
const MOST_WORDS = 8;

/** Returns the words of a text as written. */
export function tokensOf(text: string): string[] {
	return text.match(TOKEN) ?? [];
}

/** Parses a question, given the listed paths of the project. */
export function readQuestion(text: string, paths: readonly string[]): Question {
	const places = new Set<string>();
	const missing: string[] = [];
	const words = new Map<string, Word>();
	const tokens = tokensOf(text);
	const isVersioned = tokens.some((token) => VERSION.test(token));
	for (const token of tokens) {
		const lower = token.toLowerCase();
		const named = placesNamed(token, text, paths);
		for (const place of named) places.add(place);
		const isFile = FILE_NAME.test(token);
		const isSaid = named.length > 0 || ASKING.has(lower) || (isVersioned && OF_VERSIONS.test(lower));
		if (isSaid || (isFile && paths.length === 0)) continue;
		if (isFile) missing.push(token);
		for (const word of wordsOf(token, text)) words.set(word.text.toLowerCase(), word);
	}
	const hasName = [...words.values()].some(({ kind }) => kind === "name");
	return {
		words: [...words.values()].slice(0, MOST_WORDS),
		ignored: [...words.values()].slice(MOST_WORDS),
		places: [...places],
		missing,
		codeWeight: CODE.test(text) ? 1 : hasName ? 0.7 : 0.4,
		asksForChanges: isVersioned || CHANGES.test(text),
	};
}

/** A member is searched for by its own name and its owner's: "Pump.start". */
function wordsOf(token: string, text: string): Word[] {
	if (VERSION.test(token)) return [{ text: token, kind: "version" }];
	const isQuoted = text.includes(`\`${token}`) || text.includes(`${token}(`);
	const kind = isQuoted || /[-.:#\d_$]|\p{Ll}\p{Lu}/u.test(token) ? "name" : "word";
	const members = FILE_NAME.test(token) ? [token] : token.split(/\.|::|#/);
	return members.map((member) => ({ text: member, kind }));
}

/**
 * Returns the paths that a token names, nearest to the root: "src/heat.ts", "heat.ts", "packages/cli", "the CHANGELOG",
 * "in docs".
 */
function placesNamed(token: string, text: string, paths: readonly string[]): string[] {
	const inCapitals = /^[A-Z][A-Z_-]{3,}$/.test(token);
	const isBare = !inCapitals && !/[./]/.test(token);
	if (isBare && !/\b(?:in|under|inside|within)\s+(?:the\s+)?[`"]?$/i.test(text.slice(0, text.indexOf(token))))
		return [];
	const escaped = token.replace(/[^\w/]/g, "\\$&");
	const ending = inCapitals ? "(?:\\.[^/]*)?(?=/|$)" : "(?=/|$)";
	const name = new RegExp(`(?:^|/)${escaped}${ending}`, inCapitals ? "" : "i");
	const found = paths.flatMap((path) => {
		const match = name.exec(path);
		return match ? [path.slice(0, match.index + match[0].length)] : [];
	});
	const nearest = isBare ? 1 : Math.min(...found.map(depthOf));
	return [...new Set(found)].filter((place) => depthOf(place) === nearest).slice(0, 5);
}

/** Counts the segments of a path. */
export function depthOf(path: string): number {
	return path.split("/").length;
}

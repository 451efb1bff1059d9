// `allowed-tools`: which calls a skill permits while it is in use.

/** Names that skills use for tools, mapped to the agent's own. */
export type ToolNames = Readonly<Record<string, string | readonly string[]>>;

/** Characters with which one shell command continues with another. */
const continues = /[;&|<>`$\n\r\\(){}]/;

/** Whether one of the patterns permits a call. */
export function isAllowed(
	patterns: readonly string[],
	tool: string,
	input: unknown,
	toolNames: ToolNames = {},
): boolean {
	return patterns.some((pattern) => {
		const { name = "", argument } = /^(?<name>[^(]*)(?:\((?<argument>.*)\))?$/s.exec(pattern)?.groups ?? {};
		const names = [name, ...[toolNames[name] ?? []].flat()];
		return names.includes(tool) && (argument === undefined || isArgument(argument, input));
	});
}

/**
 * Whether a text among the arguments is what a pattern permits: the pattern itself or, for `git diff:*` and `git diff *`,
 * what begins with its words. A text that continues with another shell command is not.
 */
function isArgument(pattern: string, input: unknown): boolean {
	if (pattern === "*") return true;
	const prefix = /^(?<words>.*?)(?::\*| \*)$/s.exec(pattern)?.groups?.words;
	const texts = typeof input === "object" && input !== null ? Object.values(input) : [input];
	const given = texts.filter((each) => typeof each === "string");
	if (given.length !== 1) return false;
	const text = String(given[0]).trim();
	if (continues.test(text)) return false;
	return text === (prefix ?? pattern) || (prefix !== undefined && text.startsWith(`${prefix} `));
}

// `allowed-tools`: which calls a skill permits while it is in use.

/** Names that skills use for tools, mapped to the agent's own. */
export type ToolNames = Readonly<Record<string, string | readonly string[]>>;

/** Characters that chain shell commands. */
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
 * Whether a pattern permits the only text among the arguments, at any depth. It permits the pattern itself and, for
 * `git diff:*` and `git diff *`, any text that begins with those words. A text that continues with another shell
 * command is not.
 */
function isArgument(pattern: string, input: unknown): boolean {
	if (pattern === "*") return true;
	const prefix = /^(?<words>.*?)(?::\*| \*)$/s.exec(pattern)?.groups?.words;
	const given = onlyTextIn(input);
	if (given === undefined) return false;
	const text = given.trim();
	if (continues.test(text)) return false;
	return text === (prefix ?? pattern) || (prefix !== undefined && text.startsWith(`${prefix} `));
}

/** Returns the only text in a value, at any depth; undefined if there are none or several. */
function onlyTextIn(input: unknown): string | undefined {
	const left = [input];
	let found: string | undefined;
	while (left.length > 0) {
		const value = left.pop();
		if (typeof value === "object" && value !== null) for (const each of Object.values(value)) left.push(each);
		if (typeof value !== "string") continue;
		if (found !== undefined) return undefined;
		found = value;
	}
	return found;
}

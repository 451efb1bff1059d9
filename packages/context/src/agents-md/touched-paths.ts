// The paths that a call touches, found by the names of its arguments, so that it works with the file tools of any agent.

/** Arguments with a path or with a pattern of paths. */
const pathNames = /path|file|folder|dir|prefix|cwd|glob|root|uri$/i;
/** Arguments with a shell command. */
const commandNames = /^(?:command|cmd|script|args|argv)$/i;
/** Words of a command after which a folder follows. */
const beforeFolder: ReadonlySet<string> = new Set(["cd", "pushd", "-C", "--prefix", "--cwd", "--dir"]);

/** How many paths of one call are looked at. */
const mostPaths = 20;
/** How many values of the arguments are looked at. */
const mostValues = 200;
/** A longer text is not a path, in characters. */
const longestPath = 1_024;
/** How much of a command is looked at, in characters. */
const longestCommand = 10_000;

/** Returns the paths in the arguments of a call. A path need not exist. */
export function touchedPaths(input: unknown): readonly string[] {
	const found = new Set<string>();
	const open: [string, unknown][] = [["", input]];
	for (let at = 0; at < open.length && at < mostValues && found.size < mostPaths; at++) {
		const [name, value] = open[at] as [string, unknown];
		if (typeof value === "string") {
			for (const path of commandNames.test(name) ? pathsOfCommand(value) : pathsNamed(name, value))
				found.add(path);
		} else if (Array.isArray(value)) {
			for (const each of value.slice(0, mostValues)) open.push([name, each]);
		} else if (typeof value === "object" && value !== null) {
			for (const [key, each] of Object.entries(value).slice(0, mostValues)) open.push([key, each]);
		}
	}
	return [...found].slice(0, mostPaths);
}

function pathsNamed(name: string, value: string): readonly string[] {
	if (!pathNames.test(name) || value.length > longestPath) return [];
	const path = value.replace(/^file:\/\//, "");
	// The part of a pattern before its first wildcard is a folder.
	const wildcard = path.search(/[*?{[]/);
	const plain = wildcard < 0 ? path : path.slice(0, path.lastIndexOf("/", wildcard) + 1);
	return plain === "" || plain.includes("\0") ? [] : [plain];
}

function pathsOfCommand(command: string): readonly string[] {
	const words = command
		.slice(0, longestCommand)
		.split(/[\s;&|()<>"'`=]+/)
		.filter((word) => word !== "" && word.length <= longestPath && !word.includes("\0"));
	return words.filter(
		(word, at) => (word.includes("/") && !word.includes("://")) || beforeFolder.has(words[at - 1] ?? ""),
	);
}

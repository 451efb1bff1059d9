// Scripts that are saved under a name, and how a script calls them. The called ones become functions after the end of
// the script's own code, so its lines keep their numbers, and a person who approves the call sees all that will run.

/** Saved scripts by name. */
export type Snippets = ReadonlyMap<string, string>;

/** The line between a script and the snippets that it calls. */
const separator = "\n// The snippets that the script calls:\n";
const headEnd = "/* The script: */ ";
const head =
	/^(?:const snippets = \{list: \(\) => \[[\w", ]*\][\w:, ]*\}; )?(?:let input; )?\/\* The script: \*\/ /;
const nameShape = /^[A-Za-z][A-Za-z0-9_]{0,49}$/;

/** Whether a snippet can have this name. */
export function isSnippetName(name: string): boolean {
	return nameShape.test(name) && name !== "list";
}

/** Returns the snippets that code mentions, and whether it calls them. */
function mentioned(code: string): readonly { readonly name: string; readonly isCalled: boolean }[] {
	const mentions = code.matchAll(/\bsnippets\s*\.\s*([A-Za-z]\w*)(\s*\()?/g);
	return Array.from(mentions, ([, name = "", call]) => ({ name, isCalled: call !== undefined }));
}

/** Returns the snippets that code calls, and those that they call; or the first name that does not exist. */
export function calledSnippets(code: string, kept: Snippets): Snippets | { readonly missing: string } {
	const called = new Map<string, string>();
	const texts = [code];
	for (let text = texts.pop(); text !== undefined; text = texts.pop())
		for (const { name, isCalled } of mentioned(text)) {
			if (name === "list" || called.has(name)) continue;
			const snippet = kept.get(name);
			// A name that is not called may belong to a text such as an address.
			if (snippet === undefined && isCalled) return { missing: name };
			if (snippet === undefined) continue;
			called.set(name, snippet);
			texts.push(snippet);
		}
	return called;
}

/**
 * Returns a script that contains the snippets it calls. `names` are those of all saved snippets. A script that is saved
 * can read `input`, which is undefined in its first execution.
 */
export function withSnippets(
	code: string,
	{
		called,
		names,
		isKept,
	}: { readonly called: Snippets; readonly names: readonly string[]; readonly isKept: boolean },
): string {
	const isCalling = mentioned(code).length > 0;
	if (!isCalling && !isKept) return code;
	const members = [...called.keys()].map((name) => `${name}: snippet_${name}`);
	const list = `list: () => ${JSON.stringify(names)}`;
	const declared = isCalling ? `const snippets = {${[list, ...members].join(", ")}}; ` : "";
	const functions = Array.from(called, ([name, text]) => `async function snippet_${name}(input) {${text}\n}`);
	const input = isKept ? "let input; " : "";
	return `${declared}${input}${headEnd}${code}${separator}${functions.join("\n")}`;
}

/** Returns the script without the snippets that `withSnippets` added. */
export function withoutSnippets(code: string): string {
	const own = code.replace(head, "");
	return own === code ? code : own.slice(0, own.indexOf(separator));
}

/** Whether a script contains text that marks its snippets. */
export function isConfusing(code: string): boolean {
	return code.includes(separator) || head.test(code);
}

/** The number of characters that `withSnippets` has put before the first line of the script. */
export function lengthOfHead(code: string): number {
	return head.exec(code)?.[0].length ?? 0;
}

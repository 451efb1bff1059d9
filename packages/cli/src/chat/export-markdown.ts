/** Writes a conversation as Markdown. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type AnyMessage, cutText, type Message } from "@holdfast/upp";
import { formatArguments, oneLine, printable } from "../terminal/index.ts";
import { UsageError } from "../work/index.ts";

/** Maximum number of characters of a tool's result. */
const LONGEST_RESULT = 4_000;

/**
 * Writes the messages to a new file; returns its absolute path.
 * @throws UsageError if the file exists or cannot be written.
 */
export async function exportMarkdown(
	messages: readonly Message[],
	{ title, dir, file }: { readonly title: string; readonly dir: string; readonly file: string },
): Promise<string> {
	const path = resolve(dir, file);
	try {
		// Never replaces a file.
		await writeFile(path, markdownOf(messages, title), { flag: "wx" });
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw new UsageError(
			code === "EEXIST"
				? `${path} exists. Name another file: /export FILE.`
				: `${path} cannot be written. ${message}`,
		);
	}
	return path;
}

/** Formats messages as Markdown. */
export function markdownOf(messages: readonly Message[], title: string): string {
	const parts = (messages as readonly AnyMessage[]).flatMap((message) => {
		if (message.type === "user") return [`## User\n\n${printable(message.text)}`];
		if (message.type === "tool_result")
			return message.results.map(
				({ result, isError }) => `${isError === true ? "Error" : "Result"}:\n\n${fenced(result)}`,
			);
		const calls = (message.toolCalls ?? []).map(
			({ toolName, arguments: given }) =>
				`- \`${oneLine(`${toolName} ${formatArguments(given)}`, 400).replaceAll("`", "'")}\``,
		);
		const text = printable(message.text);
		return [["## Assistant", text, calls.join("\n")].filter((part) => part !== "").join("\n\n")];
	});
	return `${[`# ${printable(title)}`, ...parts].join("\n\n")}\n`;
}

/** A code block whose fence is longer than any in the text. */
function fenced(result: unknown): string {
	const text = typeof result === "string" ? result : (JSON.stringify(result, undefined, 2) ?? "");
	const shown = printable(cutText(text, LONGEST_RESULT));
	const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
	const fence = "`".repeat(longest + 1);
	return `${fence}\n${shown}\n${fence}`;
}

/**
 * Matches lines against a search pattern. A regular expression that can backtrack runs inside a `node:vm` script, because
 * only there can the engine stop one that takes too long.
 */
import { createContext, Script } from "node:vm";
import { ToolRefusal } from "./assistant-tool.ts";

/** Milliseconds that one file may take; they block the process, which cannot even exit. */
const LONGEST_SCRIPT = 500;

/** Characters of a line that are searched; the rest is ignored. */
export const SEARCHED_CHARACTERS = 4_000;

/** The search pattern. */
export interface LinePattern {
	readonly pattern: string;
	readonly kind: "text" | "regex";
	readonly letterCase: "ignored" | "exact";
	/** Milliseconds that the regular expression may take in total. */
	readonly budget: number;
}

/** Returns the indexes (from 0) of the matching lines; throws if its time is used up. */
export type LineMatcher = (lines: readonly string[]) => number[];

/** Creates a matcher, or rejects a pattern that is not a valid regular expression. */
export function createLineMatcher(options: LinePattern): LineMatcher {
	const flags = options.letterCase === "ignored" ? "iu" : "u";
	const source = options.kind === "regex" ? options.pattern : escapeExpression(options.pattern);
	const expression = compile(source, flags) ?? compile(source, flags.replace("u", ""));
	if (!expression)
		throw new ToolRefusal(
			"tool_input_invalid",
			`"${options.pattern}" is not a valid regular expression. To search for it as text, set "regex": false.`,
		);
	return canBacktrack(options) ? bounded(expression, options) : direct(expression);
}

/** Returns a regular expression that matches only the given text. */
function escapeExpression(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function compile(source: string, flags: string): RegExp | undefined {
	try {
		return new RegExp(source, flags);
	} catch {
		return undefined;
	}
}

/** Without repetition and back references the cost is linear, and no guard is required. */
function canBacktrack(options: LinePattern): boolean {
	return options.kind === "regex" && /[*+{]|\\[1-9k]/.test(options.pattern);
}

function direct(expression: RegExp): LineMatcher {
	return (lines) => {
		const found: number[] = [];
		for (let index = 0; index < lines.length; index++)
			if (expression.test(searched(lines[index] as string))) found.push(index);
		return found;
	};
}

function bounded(expression: RegExp, options: LinePattern): LineMatcher {
	const script = new Script(
		"{ const expression = new RegExp(source, flags); const found = []; for (let index = 0; index < lines.length; index++) if (expression.test(lines[index])) found.push(index); found }",
	);
	const sandbox: Record<string, unknown> = { source: expression.source, flags: expression.flags, lines: [] };
	const context = createContext(sandbox);
	let left = options.budget;
	return (lines) => {
		const started = performance.now();
		const limit = Math.max(1, Math.ceil(Math.min(left, LONGEST_SCRIPT)));
		sandbox.lines = lines.map(searched);
		try {
			return Array.from(script.runInContext(context, { timeout: limit }) as number[]);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
			throw new ToolRefusal(
				"search_timed_out",
				`The regular expression "${options.pattern}" took too long. Use a simpler one, without nested repetition.`,
			);
		} finally {
			left -= performance.now() - started;
		}
	};
}

function searched(line: string): string {
	return line.length > SEARCHED_CHARACTERS ? line.slice(0, SEARCHED_CHARACTERS) : line;
}

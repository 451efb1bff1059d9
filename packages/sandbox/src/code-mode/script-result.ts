// The end of a script as its model reads it: the returned value and the output of `console`, or the error with the line it came from.
import type { ModelTool } from "@holdfast/upp";
import type { CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from "../types.ts";
import type { ScriptProgress } from "./script.ts";

export interface ScriptEnd {
	/** The result, or the message of the failure. */
	readonly text: string;
	readonly failure?: "failed" | "diverged";
}

export interface ResultLimits {
	readonly tools: readonly ModelTool[];
	/** Characters of the returned value, and of the console's output. */
	readonly maxOutput: number;
	/** Characters before the script's own code on its first line. */
	readonly indent: number;
}

/** The file name of scripts in stacks. */
export const scriptFile = "script.ts";
/** The text before the code, on its first line. */
export const before = "export default async () => {";

export function endOf(
	progress: Exclude<ScriptProgress, { readonly kind: "calls" }>,
	{ tools, maxOutput, indent }: ResultLimits,
): ScriptEnd {
	if (progress.kind === "diverged") {
		const message =
			`The script behaved differently than before: its record has a call of "${progress.expected}", and the script made ` +
			`${progress.came === "no call" ? "none" : `a call of "${progress.came}"`}. The sandbox or the tools changed while it was suspended.`;
		return { text: message, failure: "diverged" };
	}
	const { result, dropped, cut } = progress;
	const notes = [droppedNote(dropped), cutNote(cut), logsOf(result.logs, maxOutput)];
	if (result.error !== undefined)
		return { text: joined([describe(result.error, tools, indent), ...notes]), failure: "failed" };
	const value = textOfValue(result);
	if (value === undefined)
		return { text: "The returned value cannot be written as JSON. Return plain data.", failure: "failed" };
	return { text: joined([shortened(value, maxOutput), ...notes]) };
}

function joined(parts: readonly string[]): string {
	return parts.filter((part, at) => at === 0 || part !== "").join("\n\n");
}

/** Undefined if the value cannot be written as JSON. */
function textOfValue({ result }: CodeExecutionResult): string | undefined {
	if (result === undefined) return "The script returned nothing.";
	if (typeof result === "string") return result;
	try {
		return JSON.stringify(result, (_key, value) => {
			if (typeof value === "bigint") return value.toString();
			if (value instanceof Map) return Object.fromEntries(value);
			return value instanceof Set ? [...value] : value;
		});
	} catch {
		return undefined;
	}
}

function describe(
	{ name, message, line, column }: CodeExecutionError,
	tools: readonly ModelTool[],
	indent: number,
): string {
	const own = line === 1 && column !== undefined && column > indent ? column - indent : column;
	const place = line === undefined ? "" : ` (line ${line}${own === undefined ? "" : `, column ${own}`})`;
	const end = place === "" && /[.!?]$/.test(message) ? "" : ".";
	const names = (): string =>
		` The tools are: ${shortened(tools.map((tool) => tool.name).join(", "), 1_000)}.`;
	const hint = /not a function/.test(message) ? names() : (hints.find(([of]) => of.test(message))?.[1] ?? "");
	return `${name}: ${message}${place}${end}${hint}`;
}

/** What a script must change, by the message of its error. */
const hints: readonly (readonly [RegExp, string])[] = [
	[/limit of computing time/, " End the loop, compute less, or split the work over several scripts."],
	[/memory/, " Keep less data at a time."],
	[/can no longer settle/, " Await only calls of the tools, and promises that the script itself settles."],
	[/cannot (leave|enter) the sandbox/, " Use plain data."],
	[/may call tools at most/, " Make fewer calls, or split the work over several scripts."],
];

function droppedNote(dropped: readonly string[]): string {
	if (dropped.length === 0) return "";
	return `The script ended without waiting for ${counted(dropped)}, so they did not run. Await each call.`;
}

function cutNote(cut: readonly string[]): string {
	if (cut.length === 0) return "";
	return `When the script ended, ${counted(cut)} had started. They were cancelled, so their outcomes are unknown.`;
}

function counted(tools: readonly string[]): string {
	return `${tools.length} of its calls (${shortened([...new Set(tools)].join(", "), 200)})`;
}

function logsOf(logs: readonly CodeExecutionLog[], maxOutput: number): string {
	if (logs.length === 0) return "";
	let text = "";
	for (const { args } of logs) {
		if (text.length > maxOutput) break;
		text += `${(args as readonly unknown[]).map(logged).join(" ")}\n`;
	}
	return `Console output:\n${shortened(text.trimEnd(), maxOutput)}`;
}

function logged(value: unknown): string {
	if (typeof value === "string") return value;
	if (value instanceof Error) return `${value.name}: ${value.message}`;
	try {
		return JSON.stringify(value) ?? String(value);
	} catch {
		return String(value);
	}
}

/** Keeps the beginning and the end of a text. */
function shortened(text: string, most: number): string {
	if (text.length <= most) return text;
	const tail = Math.floor(most / 4);
	const left = text.length - most;
	const [head, end] = [text.slice(0, most - tail), text.slice(text.length - tail)];
	return `${head}\n… ${left} characters omitted …\n${end}`.toWellFormed();
}

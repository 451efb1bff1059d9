// The interface of an engine: it parses a text once and renders it any number of times.
import type { Budget } from "./budget.ts";
import type { PlainObject } from "./plain-params.ts";

/** The context of a rendering. */
export interface RenderParts {
	/** Own data without functions. */
	readonly params: PlainObject;
	readonly budget: Budget;
	/** Returns a value as text, with PII and secrets masked; charged to the budget. */
	redact(value: unknown): string;
	/** A variable was referenced but not supplied. */
	missing(name: string): void;
}

/** A parsed text. */
export interface CompiledPrompt {
	/** Variables that must come from the caller, dotted if nested, in any branch. */
	readonly references: readonly string[];
	render(parts: RenderParts): string;
}

/** A parsed text, or its problems, each with its position. */
export type CompileOutcome = { readonly prompt: CompiledPrompt } | { readonly problems: readonly string[] };

/** A loaded engine. Compiling does not throw. */
export interface TemplateEngine {
	compile(text: string, limits: { readonly depth: number }): CompileOutcome;
}

/** Maximum number of reported problems of a text; locating each requires a scan of the text before it. */
export const mostProblems = 20;

/** Describes a problem with its line and column in a text, both counted from 1. */
export function problemAt(text: string, offset: number, problem: string): string {
	const before = text.slice(0, offset);
	const line = before.split("\n").length;
	return problemIn(line, offset - before.lastIndexOf("\n"), problem);
}

export function problemIn(line: number, column: number, problem: string): string {
	return `line ${line}, column ${column}: ${problem}`;
}

/** Describes a nesting of blocks that is too deep. */
export function tooDeep(depth: number): string {
	return `blocks are nested more than ${depth} levels deep`;
}

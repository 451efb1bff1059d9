// The interface of an engine: it parses a text once, and renders it any number of times.
import type { Budget } from "./budget.ts";
import type { PlainObject } from "./plain-params.ts";

/** The context of a rendering. */
export interface RenderParts {
	/** Own data without functions. */
	readonly params: PlainObject;
	readonly budget: Budget;
	/** A value as text, with PII and secrets masked; charged. */
	redact(value: unknown): string;
	/** A variable was referenced and is not supplied. */
	missing(name: string): void;
}

/** A text that was read. */
export interface CompiledPrompt {
	/** Variables that must come from the caller, dotted if nested, in any branch. */
	readonly references: readonly string[];
	render(parts: RenderParts): string;
}

/** A text, or what is wrong with it, each with its position. */
export type CompileOutcome = { readonly prompt: CompiledPrompt } | { readonly problems: readonly string[] };

/** An engine, loaded. Compiling does not throw. */
export interface TemplateEngine {
	compile(text: string, limits: { readonly depth: number }): CompileOutcome;
}

/** Problems of a text that are named; finding the place of each costs a look at the text before it. */
export const mostProblems = 20;

/** A problem with its place in a text, both counted from 1. */
export function problemAt(text: string, offset: number, problem: string): string {
	const before = text.slice(0, offset);
	const line = before.split("\n").length;
	return problemIn(line, offset - before.lastIndexOf("\n"), problem);
}

export function problemIn(line: number, column: number, problem: string): string {
	return `line ${line}, column ${column}: ${problem}`;
}

/** Blocks inside of blocks until one too many. */
export function tooDeep(depth: number): string {
	return `there are more than ${depth} blocks inside of each other`;
}

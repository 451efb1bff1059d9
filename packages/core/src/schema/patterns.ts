// Patterns of schemas (keeps I7). A regular expression can take exponential time, and both it and the text may come from
// an untrusted source. A pattern that can backtrack is only tested where the engine can interrupt it: in a script with a
// time limit, which a validation enters once. Outside Node, where such scripts do not exist, it is tested directly.
import { malformed } from "./check.ts";
import { TooMuchEffort } from "./effort.ts";

/** A pattern in the form that checks use. */
export interface Pattern {
	readonly source: string;
	test(text: string): boolean;
}

/** The time limit in milliseconds for patterns that can backtrack. The process is blocked for that time. */
const mostTime = 500;

/** Thrown for a pattern that needs a time limit. */
class NeedsLimit extends Error {}

let isLimited = false;

/** Creates the pattern of an expression. */
function patternOf(expression: RegExp): Pattern {
	if (!canGoBack(expression.source)) return expression;
	const { source } = expression;
	return {
		source,
		test(text) {
			if (!isLimited) throw new NeedsLimit();
			return expression.test(text);
		},
	};
}

/** Compiles a pattern with the Unicode flag, or without it if it only parses that way. */
export function regularExpression(pattern: unknown, place: readonly string[]): Pattern {
	if (typeof pattern !== "string") throw malformed(place, "expected a regular expression as a string");
	for (const flags of ["u", ""]) {
		try {
			return patternOf(new RegExp(pattern, flags));
		} catch {
			// retried without the flag, then reported below
		}
	}
	throw malformed(place, `${JSON.stringify(pattern)} is not a regular expression`);
}

/** Runs a validation, and repeats it with a time limit if a pattern needs one. @throws TooMuchEffort at the limit. */
export function withPatterns<T>(validation: () => T): T {
	try {
		return validation();
	} catch (error) {
		if (!(error instanceof NeedsLimit)) throw error;
	}
	isLimited = true;
	try {
		return inTime(validation) as T;
	} catch (error) {
		if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw new TooMuchEffort();
		throw error;
	} finally {
		isLimited = false;
	}
}

/**
 * Whether the time of an expression can grow faster than the text: if it has more than one repetition, repeats a group,
 * has a back-reference, or has a repetition and is unanchored or has alternatives.
 */
function canGoBack(source: string): boolean {
	const bare = source
		.replace(/\\[1-9k]/g, "**")
		.replace(/\\./gs, "x")
		.replace(/\[[^\]]*\]/g, "x");
	const repeats = bare.replace(/\(\?/g, "(").match(/[*+?{]/g)?.length ?? 0;
	if (repeats === 0) return false;
	return repeats > 1 || !bare.startsWith("^") || /\)[*+?{]/.test(bare) || bare.includes("|");
}

type Limited = (validation: () => unknown) => unknown;
type VirtualMachine = typeof import("node:vm");
type Builtins = { process?: { getBuiltinModule?: (name: string) => unknown } };

let limited: Limited | undefined;

function inTime(validation: () => unknown): unknown {
	limited ??= makeLimited();
	return limited(validation);
}

function makeLimited(): Limited {
	const vm = (globalThis as Builtins).process?.getBuiltinModule?.("node:vm") as VirtualMachine | undefined;
	if (vm === undefined) return (validation) => validation();
	const place: { validation: (() => unknown) | undefined } = { validation: undefined };
	const context = vm.createContext(place);
	const script = new vm.Script("validation()");
	return (validation) => {
		place.validation = validation;
		try {
			return script.runInContext(context, { timeout: mostTime });
		} finally {
			place.validation = undefined;
		}
	};
}

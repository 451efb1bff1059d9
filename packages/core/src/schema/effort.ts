// Limits the work of one validation (keeps I7). Schemas come from callers and models as well as from authors, and even
// small ones can require exponential work: each check is counted, and the result of a shared schema for a value is
// cached. A validation is synchronous, so only one is in progress at a time.
import type { Check, Finding } from "./check.ts";

/** The maximum number of node checks, or equivalent work, of one validation; a large one takes a few thousand. */
const mostChecks = 300_000;

/** How many findings of a validation may suggest a fix; ten are shown. */
const mostHints = 20;

/** Reading this many characters takes about as long as one check. */
const charactersOfCheck = 1_000;

/** The remaining budget of a validation, and its cached results. */
interface Effort {
	left: number;
	hints: number;
	/** Findings of shared checks, by value; null for none. */
	readonly known: Map<Check, Map<unknown, readonly Finding[] | null>>;
}

let current: Effort | undefined;

/** Thrown if a validation would take too long. */
export class TooMuchEffort extends Error {}

/** Runs a validation with its own budget. */
export function withEffort<T>(validation: () => T): T {
	current = { left: mostChecks, hints: mostHints, known: new Map() };
	try {
		return validation();
	} finally {
		current = undefined;
	}
}

/** Counts work. @throws TooMuchEffort if the budget is exceeded. */
export function spend(checks = 1): void {
	if (current === undefined) return;
	current.left -= checks;
	if (current.left < 0) throw new TooMuchEffort();
}

/** Counts a hint. Returns false if the validation has reached the limit. */
export function mayHint(): boolean {
	return current === undefined || current.hints-- > 0;
}

/** Counts reading a text, which is much faster than a check. */
export function spendText(text: string): void {
	if (text.length >= charactersOfCheck) spend(Math.floor(text.length / charactersOfCheck));
}

/** Wraps a check that several parts of a schema share, so that it runs once per value. */
export function shared(check: Check): Check {
	return (value) => {
		if (current === undefined) return check(value);
		let byValue = current.known.get(check);
		if (byValue === undefined) {
			byValue = new Map();
			current.known.set(check, byValue);
		}
		let findings = byValue.get(value);
		if (findings === undefined) {
			findings = check(value) ?? null;
			byValue.set(value, findings === null ? null : copyOf(findings));
			return findings === null ? undefined : [...findings];
		}
		spend(findings?.length);
		return findings === null ? undefined : copyOf(findings);
	};
}

/** Paths are extended on the way out, so findings must not be shared. */
function copyOf(findings: readonly Finding[]): Finding[] {
	return findings.map(({ path, message }) => ({ path: [...path], message }));
}

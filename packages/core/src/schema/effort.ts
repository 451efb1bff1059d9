// How much work one validation may be (keeps I7). Schemas come from callers and models as well as from authors, and small
// ones can ask for work without end: each check is counted, and what a shared schema said of a value is not worked out
// twice. A validation runs without a break, so there is one under way at a time.
import type { Check, Finding } from "./check.ts";

/** Checks of a node at a value, or as much work, that one validation may take; a large one takes some thousands. */
const mostChecks = 300_000;

/** Findings of a validation that suggest a fix; ten are shown. */
const mostHints = 20;

/** So many characters are read in the time of one check. */
const charactersOfCheck = 1_000;

/** The remaining budget of a validation, and its cached results. */
interface Effort {
	left: number;
	hints: number;
	/** Findings of shared checks, by value; null for none. */
	readonly known: Map<Check, Map<unknown, readonly Finding[] | null>>;
}

let current: Effort | undefined;

/** Thrown where a validation would take too long. */
export class TooMuchEffort extends Error {}

/** Runs a validation with an effort of its own. */
export function withEffort<T>(validation: () => T): T {
	current = { left: mostChecks, hints: mostHints, known: new Map() };
	try {
		return validation();
	} finally {
		current = undefined;
	}
}

/** Counts work. @throws TooMuchEffort when there was too much. */
export function spend(checks = 1): void {
	if (current === undefined) return;
	current.left -= checks;
	if (current.left < 0) throw new TooMuchEffort();
}

/** Counts a hint; false where the validation has had enough of them. */
export function mayHint(): boolean {
	return current === undefined || current.hints-- > 0;
}

/** Counts reading a text, which is much faster than a check. */
export function spendText(text: string): void {
	if (text.length >= charactersOfCheck) spend(Math.floor(text.length / charactersOfCheck));
}

/** A check that several places of a schema share, and that is carried out once for a value. */
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

/** Paths grow on the way out, so findings are not shared. */
function copyOf(findings: readonly Finding[]): Finding[] {
	return findings.map(({ path, message }) => ({ path: [...path], message }));
}

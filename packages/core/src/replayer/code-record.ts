// The record of code that calls the engine's primitives, and the ids of its calls. An id is derived from the code alone, so
// it is the same each time the code runs (keeps I2, I6).

/** How a call ended. The code receives the value, or catches the error. */
export type CodeOutcome =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly error: unknown };

/** The code made a call. It is recorded before the call is performed. */
export interface CodeCalled {
	readonly kind: "called";
	readonly id: string;
	/** The kind of the call, such as `step` or `sleep`. */
	readonly does: string;
}

/** A call has its outcome. */
export interface CodeSettled {
	readonly kind: "settled";
	readonly id: string;
	readonly outcome: CodeOutcome;
}

/** An entry of the record of one execution of code, in the order of the commits. */
export type CodeRecord = CodeCalled | CodeSettled;

const special = /[%/#]/g;

/**
 * Returns the id of a call, or the path of a branch: `branch/name#occurrence`. The main branch has the path "".
 * Characters of the name that would be ambiguous are escaped.
 */
export function codeId(branch: string, name: string, occurrence: number): string {
	const own = `${name.replaceAll(special, encodeURIComponent)}#${occurrence}`;
	return branch === "" ? own : `${branch}/${own}`;
}

/** Returns the path of the branch that a call was made in. */
export function branchOf(id: string): string {
	return id.slice(0, Math.max(0, id.lastIndexOf("/")));
}

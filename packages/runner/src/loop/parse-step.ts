// Finds the step in a model's reply: plain JSON, JSON in a fence, or JSON after prose.
import { HoldfastError } from "@holdfast/upp";
import { invalid } from "./read-step.ts";

const mostCharacters = 1_000_000;

/**
 * Returns the object in a reply; takes linear time.
 * @throws HoldfastError `PLAN_INVALID` if there is none.
 */
export function parseStep(text: string): unknown {
	if (text.length > mostCharacters) throw invalid(`the reply has ${text.length} characters`);
	const whole = text.trim();
	const fence = /^```[a-z]*\s*\n?/i.exec(whole);
	const body = fence === null ? whole : whole.slice(fence[0].length, end(whole, whole.lastIndexOf("```")));
	const first = parsed(body);
	if (first.ok) return withoutNulls(first.value);
	const [from, to] = [whole.indexOf("{"), whole.lastIndexOf("}")];
	const inner = from >= 0 && to > from ? parsed(whole.slice(from, to + 1)) : first;
	if (inner.ok) return withoutNulls(inner.value);
	throw new HoldfastError("PLAN_INVALID", `The reply is not JSON: ${first.why}.`);
}

/** Models write null for a member that they omit. */
function withoutNulls(step: unknown): unknown {
	if (typeof step !== "object" || step === null || Array.isArray(step)) return step;
	return Object.fromEntries(Object.entries(step).filter(([, member]) => member !== null));
}

function end(text: string, at: number): number {
	return at > 0 ? at : text.length;
}

function parsed(
	text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string } {
	try {
		return { ok: true, value: JSON.parse(text) };
	} catch (error) {
		return { ok: false, why: (error as Error).message };
	}
}

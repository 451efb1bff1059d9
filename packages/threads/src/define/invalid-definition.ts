// The one error of all definitions: it names the definition and the invalid field.
import { HoldfastError } from "@holdfast/upp";

/** The definition that an error message is about, such as `agent "triage"`. */
export interface Subject {
	readonly kind: "agent" | "prompt" | "tool" | "model" | "hook" | "effect" | "endpoint";
	readonly name?: unknown;
}

/** Returns the error for a missing or invalid field. */
export function invalidDefinition(subject: Subject, field: string, what: string): HoldfastError {
	const named = typeof subject.name === "string" && subject.name !== "";
	const who = named ? `The ${subject.kind} "${subject.name}"` : `A definition of kind ${subject.kind}`;
	return new HoldfastError("invalid_definition", `${who}: \`${field}\` ${what}.`, {
		data: { kind: subject.kind, field, ...(named ? { name: subject.name } : {}) },
	});
}

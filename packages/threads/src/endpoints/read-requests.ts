// Parses requests field by field; no field is trusted (keeps I9).
import { cutText } from "@holdfast/upp";
import { HoldfastError } from "holdfast";

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads an optional string. @throws HoldfastError `invalid_input`. */
export function textIn(body: JsonObject, field: string): string | undefined {
	const value = own(body, field);
	if (value === undefined || typeof value === "string") return value;
	throw invalid(field, "a text");
}

/** Reads a required string. @throws HoldfastError `invalid_input`. */
export function neededText(body: JsonObject, field: string): string {
	const text = textIn(body, field);
	if (text !== undefined && text !== "") return text;
	throw invalid(field, "a non-empty string");
}

/** Reads an optional list of strings. @throws HoldfastError `invalid_input`. */
export function textsIn(body: JsonObject, field: string): readonly string[] | undefined {
	const value = own(body, field);
	if (value === undefined) return undefined;
	if (Array.isArray(value) && value.length <= 100 && value.every((each) => typeof each === "string"))
		return value;
	throw invalid(field, "a list of at most 100 strings");
}

/** Reads an optional boolean. @throws HoldfastError `invalid_input`. */
export function flagIn(body: JsonObject, field: string): boolean | undefined {
	const value = own(body, field);
	if (value === undefined || typeof value === "boolean") return value;
	throw invalid(field, "true or false");
}

/** Reads an optional object. @throws HoldfastError `invalid_input`. */
export function objectIn(body: JsonObject, field: string): Record<string, unknown> | undefined {
	const value = own(body, field);
	if (value === undefined) return undefined;
	if (typeof value === "object" && value !== null && !Array.isArray(value))
		return value as Record<string, unknown>;
	throw invalid(field, "an object");
}

/** Reads a whole number within bounds from a query. @throws HoldfastError `invalid_input`. */
export function countIn(text: string | undefined, field: string, most: number, other: number): number {
	if (text === undefined) return other;
	const count = Number(text);
	if (/^\d{1,9}$/.test(text) && count <= most) return count;
	throw invalid(field, `a whole number up to ${most}`);
}

/** Refuses unknown fields: a misspelt one would be ignored. @throws HoldfastError `invalid_input`. */
export function onlyFields(body: JsonObject, fields: readonly string[]): void {
	const unknown = Object.keys(body).find((field) => !fields.includes(field));
	if (unknown !== undefined)
		throw new HoldfastError(
			"invalid_input",
			`The body has a field ${JSON.stringify(cutText(unknown, 40))}, which is unknown. Known fields: ${fields.join(", ")}.`,
			{ data: { field: cutText(unknown, 40) } },
		);
}

function own(body: JsonObject, field: string): unknown {
	const value = Object.hasOwn(body, field) ? body[field] : undefined;
	return value === null ? undefined : value;
}

export function invalid(field: string, what: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` must be ${what}.`, { data: { field } });
}

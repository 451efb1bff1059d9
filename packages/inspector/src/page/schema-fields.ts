// A JSON Schema of an object as the fields of a form, and what was typed into them as a value. Values without a simple
// field, such as lists and objects, are entered as JSON.

/** A field. */
export interface Field {
	readonly name: string;
	readonly kind: "text" | "number" | "yes-or-no" | "choice" | "json";
	readonly isRequired: boolean;
	readonly isWhole: boolean;
	readonly description: string;
	/** The choices, if there are any. */
	readonly choices: readonly unknown[];
	/** The current value; undefined if there is none. */
	readonly given: unknown;
	/** The initial content. */
	readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Names come from outside: one may equal the name of a member that all objects have. */
function ownMember<Value>(members: Readonly<Record<string, Value>>, name: string): Value | undefined {
	return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Returns the fields of a schema, with their current values. Values without a schema get a field, too. */
export function fieldsOf(schema: unknown, value: unknown): readonly Field[] {
	const { properties, required } = membersOf(schema);
	const known = membersOf(properties);
	const values = membersOf(value);
	const names = [...new Set([...Object.keys(known), ...Object.keys(values)])];
	return names.map((name) => {
		const of = membersOf(ownMember(known, name));
		const choices = Array.isArray(of.enum) ? of.enum : [];
		const given = ownMember(values, name);
		const kind = kindOf(of, choices, given);
		return {
			name,
			kind,
			isRequired: Array.isArray(required) && required.includes(name),
			isWhole: of.type === "integer",
			description: typeof of.description === "string" ? of.description : "",
			choices,
			given,
			text: textOf(kind, given),
		};
	});
}

function kindOf({ type }: Members, choices: readonly unknown[], given: unknown): Field["kind"] {
	const fits = (is: string): boolean => given === undefined || given === null || typeof given === is;
	if (choices.length > 0 && (given === undefined || choices.includes(given))) return "choice";
	if ((type === "number" || type === "integer") && fits("number")) return "number";
	if (type === "boolean" && fits("boolean")) return "yes-or-no";
	if (type === "string" && fits("string")) return "text";
	return type === undefined && typeof given === "string" ? "text" : "json";
}

function textOf(kind: Field["kind"], given: unknown): string {
	if (given === undefined) return "";
	if (kind === "text" || kind === "number") return given === null ? "" : String(given);
	return kind === "json" ? JSON.stringify(given, undefined, 2) : JSON.stringify(given);
}

/** Returns the text of a field: the typed text, or otherwise the initial one. */
export function textIn(texts: Readonly<Record<string, string>>, { name, text }: Field): string {
	return ownMember(texts, name) ?? text;
}

/** Returns the value of the typed texts, or what is wrong with them. Empty fields that are not required are left out. */
export function valueOfFields(
	fields: readonly Field[],
	texts: Readonly<Record<string, string>>,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly problem: string } {
	const entries: [string, unknown][] = [];
	for (const field of fields) {
		const { name, kind, isRequired } = field;
		const text = textIn(texts, field);
		if (text === field.text && field.given !== undefined) {
			entries.push([name, field.given]);
			continue;
		}
		if (text === "") {
			if (isRequired && kind !== "text") return { problem: `${name} is required.` };
			if (isRequired) entries.push([name, ""]);
			continue;
		}
		if (kind === "text") {
			entries.push([name, text]);
			continue;
		}
		try {
			const value: unknown = JSON.parse(text);
			if (kind === "number" && (typeof value !== "number" || (field.isWhole && !Number.isInteger(value))))
				return { problem: `${name} must be a ${field.isWhole ? "whole " : ""}number.` };
			entries.push([name, value]);
		} catch {
			return { problem: `${name} must be ${kind === "number" ? "a number" : "valid JSON"}.` };
		}
	}
	return { value: Object.fromEntries(entries) };
}

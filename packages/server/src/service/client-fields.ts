// The fields of a session and its runs that clients may set: none unless the service allows it, because a client that
// sets the system prompt or the history acts for the agent's owner. They are checked before the request is processed.
import { HoldfastTypeError } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { ClientField, ClientFieldOptions, ExecuteRequest } from "./service-types.ts";

/** The options in their resolved form. */
export interface ClientRules {
	readonly may: ReadonlySet<string>;
	readonly maxMessages: number;
	readonly maxTools: number;
}

const fields: readonly ClientField[] = ["prompt", "history", "tools", "model", "options"];

/** Where a request sets a field. */
const places: readonly (readonly [ClientField, "context" | "options", string])[] = [
	["prompt", "context", "systemPrompt"],
	["history", "context", "messages"],
	["tools", "context", "tools"],
	["model", "options", "model"],
	["options", "options", "temperature"],
	["options", "options", "maxTokens"],
];

/** @throws HoldfastError `invalid_option` naming the invalid option; `conflicting_options`. */
export function clientRules({
	clients,
	clientsMaySet = clients === undefined ? [] : fields,
	maxMessages = 1_000,
	maxTools = 100,
}: ClientFieldOptions): ClientRules {
	if (clients !== undefined && clientsMaySet !== fields)
		throw new HoldfastTypeError(
			"conflicting_options",
			'`clients: "bring-context"` lets clients set every field. Omit `clientsMaySet`.',
		);
	if (!Array.isArray(clientsMaySet) || clientsMaySet.some((field) => !fields.includes(field)))
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`clientsMaySet\` must be a list of ${fields.join(", ")}.`,
		);
	for (const [name, limit] of Object.entries({ maxMessages, maxTools }))
		if (!Number.isInteger(limit) || limit < 0)
			throw new HoldfastTypeError("invalid_option", `The option \`${name}\` must be a whole number from 0.`);
	return { may: new Set(clientsMaySet), maxMessages, maxTools };
}

/**
 * Checks which fields a request sets, and how large they are.
 * @throws HoldfastError `field_not_allowed`, `too_many_messages`, `too_many_tools`.
 */
export function checkFields({ input, context, options }: ExecuteRequest, rules: ClientRules): void {
	const given = { context: membersOf(context), options: membersOf(options) };
	for (const [field, member, name] of places) {
		const value = given[member][name];
		// An empty list sets nothing: clients send all fields, some of them empty.
		const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0);
		if (isSet && !rules.may.has(field)) throw notAllowed(field, `${member}.${name}`);
	}
	const { messages, tools } = given.context;
	for (const [field, list] of [
		["context.messages", messages],
		["input", input],
	] as const)
		if (isOver(list, rules.maxMessages))
			throw new HoldfastError("too_many_messages", ...tooMany(field, list.length, rules.maxMessages));
	if (isOver(tools, rules.maxTools))
		throw new HoldfastError("too_many_tools", ...tooMany("context.tools", tools.length, rules.maxTools));
}

function isOver(given: unknown, limit: number): given is readonly unknown[] {
	return Array.isArray(given) && given.length > limit;
}

function tooMany(
	field: string,
	count: number,
	limit: number,
): [message: string, options: { readonly data: { readonly field: string; readonly limit: number } }] {
	return [
		`\`${field}\` has ${count} entries, and this server accepts ${limit}. Send fewer.`,
		{ data: { field, limit } },
	];
}

function notAllowed(field: ClientField, place: string): HoldfastError {
	return new HoldfastError(
		"field_not_allowed",
		`Clients of this server cannot set \`${place}\`. Omit it, or have the operator allow it with the option \`clientsMaySet: ["${field}"]\`.`,
		{ data: { field: place } },
	);
}

function membersOf(given: unknown): Readonly<Record<string, unknown>> {
	return typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
}

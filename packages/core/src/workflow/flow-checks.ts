// Checks of what the code of a workflow gives its operations, and of what they return.
import {
	decodeValue,
	encodeValue,
	HoldfastError,
	HoldfastTypeError,
	isHoldfastError,
	messageOf,
} from "@holdfast/upp";
import { isTooDeep } from "../engine/index.ts";
import { plainJson } from "../tools/index.ts";
import type { FlowCall, ToolOutcomeOfFlow } from "./flow-call.ts";

/** @throws HoldfastError `invalid_argument` for something without a name. */
export function nameOf(given: { readonly name?: unknown } | undefined, of: string): string {
	const name = attempted(() => given?.name);
	if (isName(name)) return name;
	const what = of === "agent" ? "an agent" : `a ${of}`;
	throw new HoldfastTypeError(
		"invalid_argument",
		`flow.${of}() takes ${what} with a name: text of 1 to 200 characters without lone surrogates.`,
	);
}

/** Undefined if the value cannot be read, such as that of a getter that throws. */
function attempted<Value>(read: () => Value): Value | undefined {
	try {
		return read();
	} catch {
		return undefined;
	}
}

export function resultOf(what: string, { outcome, result }: ToolOutcomeOfFlow): unknown {
	if (outcome === "done") return result;
	const why = typeof result === "string" ? result : JSON.stringify(result);
	throw new HoldfastError("tool_call_failed", `${what} has no result (${outcome}): ${why}`, {
		data: { outcome },
	});
}

/** @throws HoldfastError with this code if the value is not JSON data. */
export function storableOf(
	value: unknown,
	what: string,
	code: "invalid_input" | "unserialisable_value",
): unknown {
	try {
		return value === undefined ? undefined : plainJson(value);
	} catch (error) {
		const why = `${notStored(what, error)} Give plain data.`;
		if (code === "invalid_input") throw new HoldfastError("invalid_input", why);
		throw new HoldfastError("unserialisable_value", why);
	}
}

/** Returns the sentence that explains why a value is not stored. */
export function notStored(what: string, error: unknown): string {
	const [why = ""] = messageOf(error).split("\n", 1);
	if (isHoldfastError(error)) return `${what} was refused. ${why}`;
	return `${what} cannot be stored as JSON: ${why}${/[.!?]$/.test(why) ? "" : "."}`;
}

/**
 * Returns a copy of a tool's input, so that later changes to the given object have no effect.
 * @throws HoldfastError `unserialisable_value` if the store would refuse it.
 */
export function inputOfTool(input: unknown, what: string): Record<string, unknown> {
	try {
		if (isTooDeep(input)) throw new RangeError("it is nested more than 500 levels deep, or contains itself.");
		const copy = input === undefined ? {} : decodeValue(JSON.parse(JSON.stringify(encodeValue(input))));
		return copy as Record<string, unknown>;
	} catch (error) {
		const why = notStored(what, error);
		throw new HoldfastError("unserialisable_value", isHoldfastError(error) ? why : `${why} Give plain data.`);
	}
}

/** Returns a call that a person answers. @throws HoldfastError `unserialisable_value` for the details. */
export function callOfPerson(
	toolName: string,
	asked: Readonly<Record<string, string>>,
	details: unknown,
): FlowCall {
	const shown = storableOf(details, "The value of `details`", "unserialisable_value");
	return { kind: "tool", toolName, arguments: () => ({ ...asked, details: shown }) };
}

/** Names are part of the record, and a lone surrogate would be replaced there. */
function isName(name: unknown): name is string {
	return typeof name === "string" && name !== "" && name.length <= 200 && name.isWellFormed();
}

/** @throws HoldfastError `invalid_argument`. */
export function checkName(name: unknown, of: string): void {
	if (isName(name)) return;
	throw new HoldfastTypeError(
		"invalid_argument",
		`flow.${of}() takes a name: text of 1 to 200 characters without lone surrogates.`,
	);
}

/** Returns a value as text for the message of an error. */
export function shown(value: unknown): string {
	const text =
		attempted(() => (typeof value === "string" ? JSON.stringify(value) : String(value))) ??
		`a value of the type ${typeof value}`;
	return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`;
}

/** The first 12 hexadecimal digits of a UUIDv4 are random. */
export function randomOf(uuid: string): number {
	return Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16) / 2 ** 48;
}

// Checks of what the code of a workflow gives its operations, and of what they return.
import { HoldfastError, HoldfastTypeError } from "@holdfast/upp";
import { plainJson } from "../tools/index.ts";
import type { FlowCall, ToolOutcomeOfFlow } from "./flow-call.ts";

export function nameOf(given: { readonly name?: unknown } | undefined, of: string): string {
	const { name } = given ?? {};
	if (typeof name === "string") return name;
	throw new HoldfastTypeError("invalid_argument", `flow.${of}() takes a ${of} with a name.`);
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
		const why = `${what} cannot be stored as JSON: ${(error as Error).message} Give plain data.`;
		if (code === "invalid_input") throw new HoldfastError("invalid_input", why);
		throw new HoldfastError("unserialisable_value", why);
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

export function checkName(name: unknown, of: string): void {
	if (typeof name === "string" && name !== "" && name.length <= 200) return;
	throw new HoldfastTypeError("invalid_argument", `flow.${of}() takes a name: text of 1 to 200 characters.`);
}

/** The first 12 hexadecimal digits of a UUIDv4 are random. */
export function randomOf(uuid: string): number {
	return Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16) / 2 ** 48;
}

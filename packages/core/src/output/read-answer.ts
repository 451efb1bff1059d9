// Extracts the JSON value from a model's answer. The cost is proportional to the length of the text.
import { encodeValue, HoldfastError } from "@holdfast/upp";
import { isTooDeep } from "../engine/index.ts";
import type { AssistantSaid, OutputVerdict } from "../facts/index.ts";

/** Returns the value of an answer, or the reason it has none. */
export function readAnswer({
	data,
	message,
	stopReason,
}: AssistantSaid): { readonly ok: true; readonly value: unknown } | Extract<OutputVerdict, { ok: false }> {
	if (stopReason === "content_filter")
		return { ...wrong("the provider has refused or filtered the answer"), hopeless: true };
	const value = data ?? readJson(message.text);
	if (value === undefined)
		return wrong(
			stopReason === "length" ? "the answer is cut off at the token limit" : "the answer is not JSON",
		);
	return isTooDeep(value) ? wrong("the answer is nested too deeply") : { ok: true, value };
}

/** @throws HoldfastError `unserialisable_value` if the value that a schema produced from an answer cannot be recorded. */
export function mustBeStorable(value: unknown): void {
	try {
		if (value === undefined) throw new TypeError("it is undefined");
		encodeValue(value);
	} catch (cause) {
		throw new HoldfastError(
			"unserialisable_value",
			"The value that the schema in `output` returns cannot be recorded. Return plain data, dates or bytes, and convert other values where you use them.",
			{ cause },
		);
	}
}

function wrong(message: string): Extract<OutputVerdict, { ok: false }> {
	return { ok: false, issues: [{ path: "", message }] };
}

/** Returns the JSON in a text, which may be in a fence or within prose; undefined if there is none. */
function readJson(text: string): unknown {
	for (const candidate of [text, fenced(text), braced(text)]) {
		if (candidate === undefined) continue;
		try {
			return JSON.parse(candidate);
		} catch {
			// the next one may be
		}
	}
	return undefined;
}

const fence = "```";

function fenced(text: string): string | undefined {
	const from = text.indexOf("\n", text.indexOf(fence) + fence.length);
	const to = text.lastIndexOf(fence);
	return text.includes(fence) && from >= 0 && to > from ? text.slice(from, to) : undefined;
}

/** Returns the text from the first bracket to the last one. */
function braced(text: string): string | undefined {
	const from = text.search(/[{[]/);
	const to = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
	return from >= 0 && to > from ? text.slice(from, to + 1) : undefined;
}

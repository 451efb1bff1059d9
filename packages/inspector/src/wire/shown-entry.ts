// Entries for the page: masked, and cut if they are long, so that a response stays bounded (keeps I7).
import { cutText } from "@holdfast/upp";
import type { HoldfastError } from "holdfast";
import { type Entry, encodeFact } from "holdfast/host";
import type { ShownEntry } from "./types.ts";

/** Characters of a fact that is shown in full. */
const wholeCharacters = 32_768;
/** Characters of a text, and members of a list, that remain after a cut. */
const keptCharacters = 2_000;
const keptMembers = 50;
const deepest = 40;

/** Converts an entry, or one that cannot be read; `size` determines whether long ones are cut. */
export function shownEntry(
	found: Entry | { readonly seq: number; readonly error: HoldfastError },
	mask: <Value>(value: Value) => Value,
	size: "cut" | "whole" = "cut",
): ShownEntry {
	if ("error" in found) {
		const { code, message } = found.error;
		return { seq: found.seq, at: 0, runId: "", kind: "unreadable", body: { code, message } };
	}
	const { seq, at, runId, fact } = found;
	const { kind, body: text } = encodeFact(fact);
	const given = JSON.parse(text) as Readonly<Record<string, unknown>>;
	const isLong = size === "cut" && text.length > wholeCharacters;
	// Masks first: a secret across the cut would not be recognised afterwards.
	const body = isLong ? (trimmed(mask(given)) as typeof given) : mask(given);
	return { seq, at, runId, kind, body, ...(isLong ? { isCut: true } : {}) };
}

/** Cuts long texts and lists. */
function trimmed(value: unknown, depth = 0): unknown {
	if (typeof value === "string")
		return value.length <= keptCharacters
			? value
			: `${cutText(value, keptCharacters)}… (${value.length} characters)`;
	if (typeof value !== "object" || value === null) return value;
	if (depth > deepest) return "…";
	if (Array.isArray(value)) {
		const kept = value.slice(0, keptMembers).map((each) => trimmed(each, depth + 1));
		return value.length <= keptMembers ? kept : [...kept, `… (${value.length} members)`];
	}
	const members = Object.entries(value);
	const kept = members.slice(0, keptMembers).map(([name, each]) => [name, trimmed(each, depth + 1)]);
	if (members.length > keptMembers) kept.push(["…", `${members.length} members`]);
	return Object.fromEntries(kept);
}

// Describes a waiting run for people.
import type { SessionWait } from "holdfast/execute";

/** Returns a sentence about a wait, without its full stop: `Waiting for the provider until 2026-01-31T10:15:00.000Z`. */
export function waitText({ reason, tag, until }: SessionWait): string {
	const what = reason === "model" ? "the provider" : tag;
	return `Waiting for ${what}${until === undefined ? "" : ` until ${new Date(until).toISOString()}`}`;
}

// The text for people about a waiting run.
import type { SessionWait } from "holdfast/execute";

/** A sentence about a wait, without its end: `Waiting for the provider until 2026-01-31T10:15:00.000Z`. */
export function waitText({ reason, tag, until }: SessionWait): string {
	const what = reason === "model" ? "the provider" : tag;
	return `Waiting for ${what}${until === undefined ? "" : ` until ${new Date(until).toISOString()}`}`;
}

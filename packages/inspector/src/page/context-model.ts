// How the context of a session grew, and how much of it its providers read from their caches.
import type { ShownEntry } from "../wire/index.ts";

/** An answer, with the size of its request. */
export interface ContextStep {
	readonly seq: number;
	readonly at: number;
	readonly modelId: string;
	readonly inputTokens: number;
	readonly cachedTokens: number;
	readonly writtenTokens: number;
	/** Why its request does not begin like the one before it. */
	readonly reasons: readonly string[];
	/** The messages at the beginning that are unchanged. */
	readonly from: number;
}

const reasonNames: Readonly<Record<string, string>> = {
	model: "another model",
	instructions: "other instructions",
	tools: "other tools",
	agent: "another agent",
	edited: "an edited or deleted message",
	files: "files that the provider refused",
	view: "messages that middleware or a plugin changed",
};

/** Describes a reason for a cache break. */
export function reasonName(reason: string): string {
	return reasonNames[reason] ?? reason;
}

/** Returns the answers of a session, in order. */
export function contextSteps(entries: readonly ShownEntry[]): readonly ContextStep[] {
	return entries.flatMap(({ seq, at, kind, body }) => {
		if (kind !== "assistant") return [];
		const usage = (body.usage ?? {}) as Record<string, number>;
		const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
		const { reasons = [], from = 0 } = (body.cacheBreak ?? {}) as {
			reasons?: readonly string[];
			from?: number;
		};
		return [
			{
				...{ seq, at, modelId: String(body.modelId), inputTokens, reasons, from },
				...{ cachedTokens: cacheReadTokens, writtenTokens: cacheWriteTokens },
			},
		];
	});
}

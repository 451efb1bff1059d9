// Token usage in states and traces.
import type { TokenUsage } from "@holdfast/upp";
import { frozenCopy } from "./frozen-copy.ts";
import { invalidState, readList, readOptional, readRecord } from "./read-json.ts";

/** Returns a frozen copy of a usage. @throws HoldfastError `invalid_state` with the path to the fault. */
export function readUsage(value: unknown, path: string): TokenUsage {
	const usage = readRecord(value, path);
	readTokens(usage, ["inputTokens", "outputTokens", "totalTokens"], path);
	for (const name of ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"]) {
		if (usage[name] !== undefined) readTokens(usage, [name], path);
	}
	readOptional(usage.cycles, `${path}.cycles`, (cycles, at) =>
		readList(cycles, at, (cycle, place) =>
			readTokens(readRecord(cycle, place), ["inputTokens", "outputTokens"], place),
		),
	);
	return frozenCopy({ ...usage }) as unknown as TokenUsage;
}

function readTokens(usage: Record<string, unknown>, names: readonly string[], path: string): void {
	for (const name of names) {
		if (typeof usage[name] !== "number") throw invalidState(`${path}.${name}`, "a number", usage[name]);
	}
}

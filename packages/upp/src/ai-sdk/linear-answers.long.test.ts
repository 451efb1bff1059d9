// Gathering an answer takes time that grows with its size, and no faster, however a provider cuts it.
import { expect, test } from "vitest";
import { Answer } from "./answer.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));

const call = (index: number): object[] => [
	{ type: "tool-input-start", id: `${index}`, toolName: "t" },
	{ type: "tool-input-delta", id: `${index}`, delta: "{}" },
	{ type: "tool-call", toolCallId: `${index}`, toolName: "t", input: "{}" },
];

/** The parts of an answer of a size. */
const shapes: Readonly<Record<string, (n: number) => readonly object[]>> = {
	"calls one after the other": (n) => list(n, call).flat(),
	"calls that are all begun, then grown from the last to the first": (n) => [
		...list(n, (index) => ({ type: "tool-input-start", id: `${index}`, toolName: "t" })),
		...list(n, (index) => ({ type: "tool-input-delta", id: `${n - 1 - index}`, delta: "{}" })),
	],
	"calls of the provider's own tools": (n) =>
		list(n, (index) => [
			{ type: "tool-call", toolCallId: `${index}`, toolName: "t", input: "{}", providerExecuted: true },
			{ type: "tool-result", toolCallId: `${index}`, toolName: "t", result: 1 },
		]).flat(),
	"arguments in pieces": (n) => [
		{ type: "tool-input-start", id: "1", toolName: "t" },
		...list(n * 20, () => ({ type: "tool-input-delta", id: "1", delta: "x" })),
	],
	"texts that never end": (n) =>
		list(n, (index) => [
			{ type: "text-start", id: `${index}` },
			{ type: "text-delta", id: `${index}`, delta: "x" },
		]).flat(),
	sources: (n) =>
		list(n, (id) => ({ type: "source", sourceType: "url", id: `${id}`, url: `https://a/${id}` })),
};

function gather(parts: readonly object[]): void {
	const answer = new Answer(() => {}, "text");
	for (const part of parts) answer.take(part as never);
	answer.finish();
}

/** Milliseconds of CPU, the least of five. */
function costOf(parts: readonly object[]): number {
	const costs = list(5, () => {
		const from = process.cpuUsage();
		gather(parts);
		const { user, system } = process.cpuUsage(from);
		return (user + system) / 1000;
	});
	return Math.min(...costs);
}

test.each(Object.entries(shapes))("%s", (_, partsOf) => {
	const [once, eightfold] = [costOf(partsOf(2_500)), costOf(partsOf(20_000))];
	// Linear work costs eight times as much, and a square sixty-four times.
	expect(eightfold).toBeLessThan(24 * Math.max(once, 1));
});

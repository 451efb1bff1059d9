// Collecting an answer takes linear time, however a provider splits it.
import { test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { Answer } from "./answer.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));

/** The maximum number of calls in one answer. */
const mostCalls = 1_000;

/** The parts of an answer of a given size. */
const shapes: Readonly<Record<string, (n: number) => readonly object[]>> = {
	"calls that are all begun, then grown by turns": (n) => [
		...list(mostCalls, (index) => ({ type: "tool-input-start", id: `${index}`, toolName: "t" })),
		...list(n, (index) => ({ type: "tool-input-delta", id: `${index % mostCalls}`, delta: "{}" })),
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
	"texts that are all begun, then ended from the first to the last": (n) => [
		...list(n, (index) => ({ type: "text-start", id: `${index}` })),
		...list(n, (index) => ({ type: "text-delta", id: `${index}`, delta: "x" })),
		...list(n, (index) => ({ type: "text-end", id: `${index}` })),
	],
	"metadata that grows with each piece": (n) => [
		{ type: "text-start", id: "1" },
		...list(n, (index) => ({
			type: "text-delta",
			id: "1",
			delta: "x",
			providerMetadata: { p: { [`m${index}`]: 1 } },
		})),
	],
	"ends that each say more": (n) =>
		list(n, (index) => ({ type: "finish", usage: {}, providerMetadata: { [`p${index}`]: { m: 1 } } })),
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

test.each(Object.entries(shapes))("%s", async (_, partsOf) => {
	await expectProportion(40_000, (size) => {
		const parts = partsOf(size);
		return () => gather(parts);
	});
});

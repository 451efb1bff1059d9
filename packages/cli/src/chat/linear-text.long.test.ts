// An answer of any size is shown in time that grows with its size, and no faster (keeps I7).
import { expect, test } from "vitest";
import { BlockStream } from "./block-stream.ts";
import { Transcript } from "./chat-transcript.ts";

/** Texts in pieces. */
const shapes: Readonly<Record<string, (n: number) => readonly string[]>> = {
	"one line that never ends": (n) => Array.from({ length: n }, () => "word "),
	"code whose first line is long": (n) => [
		`\`\`\`${"x".repeat(n)}\n`,
		...Array.from({ length: n }, () => "y\n"),
	],
	"code of many lines in one piece": (n) => [`\`\`\`\n${"y\n".repeat(n)}`],
	paragraphs: (n) => Array.from({ length: n }, () => "word\n\n"),
};

function show(pieces: readonly string[]): void {
	const transcript = new Transcript();
	const blocks = new BlockStream();
	let shown = 0;
	transcript.subscribe(() => {
		shown += transcript.entriesAfter(shown).length;
	});
	for (const piece of pieces) {
		for (const text of blocks.push(piece)) transcript.add({ kind: "answer", text });
		transcript.set({ tail: blocks.tail });
	}
	for (const text of blocks.end()) transcript.add({ kind: "answer", text });
	expect(transcript.snapshot().entries.length).toBe(shown);
}

function costOf(pieces: readonly string[]): number {
	const costs = Array.from({ length: 3 }, () => {
		const from = process.cpuUsage();
		show(pieces);
		const { user, system } = process.cpuUsage(from);
		return (user + system) / 1_000;
	});
	return Math.min(...costs);
}

test.each(Object.entries(shapes))("%s", (_, piecesOf) => {
	// Linear work costs eight times as much, some more where it outgrows the caches, and a square 64 times.
	expect(costOf(piecesOf(128_000))).toBeLessThan(24 * Math.max(costOf(piecesOf(16_000)), 4));
});

// An answer of any size is shown in time that grows with its size, and no faster (keeps I7).
import { expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
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
		// Each change draws a frame, whose cost does not depend on what was drawn before.
		const { count, entries } = transcript.snapshot();
		shown += entries(shown, count).length;
	});
	for (const piece of pieces) {
		for (const text of blocks.push(piece)) transcript.add({ kind: "answer", text });
		transcript.set({ tail: blocks.tail });
	}
	for (const text of blocks.end()) transcript.add({ kind: "answer", text });
	expect(transcript.snapshot().count).toBe(shown);
}

test.each(Object.entries(shapes))("%s", async (_, piecesOf) => {
	await expectProportion(128_000, (size) => {
		const pieces = piecesOf(size);
		return () => show(pieces);
	});
});

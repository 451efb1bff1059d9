// An answer of any size is shown in time that grows with its size, and no faster (keeps I7).
import { expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { type Block, BlockStream } from "./block-stream.ts";
import { Transcript } from "./chat-transcript.ts";
import { piecesOfLine } from "./highlight.ts";

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

const entryOf = (block: Block) =>
	typeof block === "string"
		? ({ kind: "answer", text: block } as const)
		: ({ kind: "code", pieces: piecesOfLine(block.code, block.language, block.before) } as const);

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
		for (const block of blocks.push(piece)) transcript.add(entryOf(block));
		transcript.set({ tail: blocks.tail });
	}
	for (const block of blocks.end()) transcript.add(entryOf(block));
	expect(transcript.snapshot().count).toBe(shown);
}

test.each(Object.entries(shapes))("%s", async (_, piecesOf) => {
	await expectProportion(128_000, (size) => {
		const pieces = piecesOf(size);
		return () => show(pieces);
	});
});

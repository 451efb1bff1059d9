// Files: streamed in and out, complete or absent, and deleted with their session.
import { pieceSize, type SessionFiles } from "holdfast/host";
import { append, begin, ended, rejects, same } from "../journal/index.ts";
import type { PortCase } from "./port-case.ts";

/** Creates bytes that differ at every position. */
function bytesFrom(start: number, count: number): Uint8Array {
	return Uint8Array.from({ length: count }, (_, at) => ((start + at) * 31 + ((start + at) >> 8)) & 255);
}

/** Yields the source in pieces of odd sizes. */
async function* sourceOf(size: number, most = 100_003): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < size; ) {
		const piece = bytesFrom(at, Math.min(most, size - at));
		yield piece;
		at += piece.length;
	}
}

/** Checks that the bytes read start at a position of the source; returns their number. */
async function checkBytes(read: AsyncIterable<Uint8Array>, start: number): Promise<number> {
	let at = start;
	for await (const piece of read) {
		const expected = bytesFrom(at, piece.length);
		for (let index = 0; index < piece.length; index++)
			if (piece[index] !== expected[index]) throw new Error(`byte ${at + index} is another one`);
		at += piece.length;
	}
	return at - start;
}

async function textOf(files: SessionFiles, name: string): Promise<string> {
	let text = "";
	for await (const piece of files.read(name)) text += new TextDecoder().decode(piece);
	return text;
}

const text = (given: string): Uint8Array[] => [new TextEncoder().encode(given)];

export const filesCases: readonly PortCase[] = [
	{
		title: "any worker reads a file as it was written, in any range",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const files = two.files.of("s", "o");
			for (const size of [0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3 * pieceSize + 7]) {
				const { at, ...info } = await one.files.of("s", "o").write("f", sourceOf(size));
				same(info, { name: "f", size }, "what writing answers");
				same(typeof at, "number", "its time");
				same(await files.stat("f"), { ...info, at }, "its info");
				same(await checkBytes(files.read("f"), 0), size, "the bytes read");
			}
			const size = 3 * pieceSize + 7;
			for (const [start, end] of [
				[0, 1],
				[5, pieceSize],
				[pieceSize - 1, pieceSize + 1],
				[pieceSize, 3 * pieceSize],
				[size - 1, size + 100],
				[size, size],
				[size + 5, size + 9],
			] as const) {
				const expected = Math.max(0, Math.min(end, size) - Math.min(start, size));
				same(
					await checkBytes(files.read("f", { start, end }), start),
					expected,
					`bytes from ${start} to ${end}`,
				);
			}
			same(await checkBytes(files.read("f", { start: 10 }), 10), size - 10, "bytes from 10 on");
		},
	},
	{
		title: "files are kept under session, owner and name, and listed by name",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const names = ["b.txt", "a/b", "../..", "\u0000", "é"];
			for (const name of names) await one.files.of("s", "o").write(name, text(name));
			await one.files.of("s", "p").write("a", text("of p"));
			await one.files.of("t", "o").write("a", text("of t"));
			const files = two.files.of("s", "o");
			const listed = await files.list();
			same(
				listed.map(({ name }) => name),
				[...names].sort(),
				"names",
			);
			for (const name of names) same(await textOf(files, name), name, "text");
			same(await textOf(two.files.of("s", "p"), "a"), "of p", "of another owner");
			same(await textOf(two.files.of("t", "o"), "a"), "of t", "of another session");
			same([await files.delete("é"), await files.delete("é")], [true, false], "whether there was one");
			same(
				[await files.stat("é"), await two.files.of("none", "o").stat("é")],
				[undefined, undefined],
				"no file",
			);
			await rejects("file_not_found", () => textOf(files, "é"));
			await rejects("file_not_found", () => textOf(two.files.of("none", "o"), "é"));
		},
	},
	{
		title: "readers see the old file until the new one is complete, and a reader of the old one can finish",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const [files, seen] = [one.files.of("s", "o"), two.files.of("s", "o")];
			await files.write("f", sourceOf(2 * pieceSize));
			const reading = seen.read("f")[Symbol.asyncIterator]();
			const first = (await reading.next()).value as Uint8Array;
			let between: unknown;
			await files.write(
				"f",
				(async function* () {
					yield* sourceOf(3 * pieceSize);
					between = [(await seen.stat("f"))?.size, await checkBytes(seen.read("f"), 0)];
					yield* text("the end");
				})(),
			);
			same(between, [2 * pieceSize, 2 * pieceSize], "size while it is being written");
			same((await seen.stat("f"))?.size, 3 * pieceSize + 7, "size afterwards");
			same(
				await checkBytes({ [Symbol.asyncIterator]: () => reading }, first.length),
				2 * pieceSize - first.length,
				"the rest of the old one",
			);
		},
	},
	{
		title: "if a source fails, an existing file is unchanged, and a new one is not created",
		async run(world) {
			const { files, journal } = await world.host();
			const own = files.of("s", "o");
			await own.write("f", text("as it was"));
			const failing = (size: number) =>
				(async function* () {
					yield* sourceOf(size);
					throw Object.assign(new Error("broken"), { code: "broken" });
				})();
			for (const size of [10, 2 * pieceSize]) {
				await rejects("broken", () => own.write("f", failing(size)));
				await rejects("broken", () => own.write("g", failing(size)));
			}
			same(await textOf(own, "f"), "as it was", "the file");
			same(
				(await own.list()).map(({ name }) => name),
				["f"],
				"the files",
			);
			await append(await begin(journal, "s"), "run-1", ended);
		},
	},
	{
		title: "of concurrent writes of one file, one is stored completely",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const write = async (host: typeof one, letter: string, count: number): Promise<void> => {
				const source = Array.from({ length: count }, () =>
					new TextEncoder().encode(letter.repeat(pieceSize / 2)),
				);
				await host.files.of("s", "o").write("f", source);
			};
			await Promise.all([write(one, "a", 3), write(two, "b", 4), write(one, "c", 5)]);
			const found = await textOf(two.files.of("s", "o"), "f");
			const letter = found[0] ?? "";
			const count = { a: 3, b: 4, c: 5 }[letter] ?? 0;
			same(found === letter.repeat((count * pieceSize) / 2), true, "that it is whole");
		},
	},
	{
		title: "files are deleted with their session, and a write in progress never reaches another session",
		async run(world) {
			const { files, journal } = await world.host();
			const own = files.of("s", "o");
			await own.write("f", sourceOf(2 * pieceSize));
			await rejects("lease_lost", () =>
				own.write(
					"g",
					(async function* () {
						yield* sourceOf(2 * pieceSize);
						await journal.delete("s");
						await append(await begin(journal, "s"), "run-1", ended);
						yield* text("the end");
					})(),
				),
			);
			same(await own.list(), [], "in the session that was made anew");
			await rejects("file_not_found", () => textOf(own, "f"));
		},
	},
	{
		title: "a file that exceeds a limit is refused, and none of it is kept",
		needsLimits: true,
		async run(world) {
			const { files } = await world.host();
			const own = files.of("s", "o");
			await own.write("f", sourceOf(1_000_000));
			await rejects("file_too_large", () => own.write("f", sourceOf(1_000_001)));
			await rejects("file_too_large", () => own.write("g", sourceOf(500_001)));
			await rejects("file_too_large", () => files.of("s", "p").write("g", sourceOf(500_001)));
			same(await checkBytes(own.read("f"), 0), 1_000_000, "the file that was there");
			await own.write("g", sourceOf(500_000));
			await own.write("f", sourceOf(10));
			await files.of("t", "o").write("g", sourceOf(1_000_000));
			same(
				(await own.list()).map(({ size }) => size),
				[10, 500_000],
				"sizes",
			);
		},
	},
];

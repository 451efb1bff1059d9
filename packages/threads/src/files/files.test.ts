import { type Host, memoryHost } from "holdfast";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hosts, temporaryFolder } from "./files.fixture.ts";
import { type FileMethods, fileMethods, filesOf, storeAttachments, type ThreadFiles } from "./index.ts";

const MB = 1024 * 1024;

/** Bytes that differ everywhere. */
function bytesOf(size: number, seed = 7): Uint8Array {
	const bytes = new Uint8Array(size);
	for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * seed) & 255;
	return bytes;
}

async function text(files: FileMethods, path: string): Promise<string | null> {
	const bytes = await files.readFile(path);
	return bytes === null ? null : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function isSame(one: ArrayBuffer | null, other: Uint8Array): boolean {
	return one !== null && Buffer.compare(new Uint8Array(one), other) === 0;
}

describe.each(hosts)("files on a host in %s", (_, open) => {
	let host: Host;
	let own: ThreadFiles;
	let files: FileMethods;
	beforeEach(() => {
		host = open(temporaryFolder());
		own = filesOf(host, "thread-1");
		files = fileMethods(own);
	});
	afterEach(() => host.close());

	test("are read as written, text and bytes, in folders that are created, for any earlier content [SA-099]", async () => {
		const long = "\ufeff  long text,\r\n\tünïcödé 🙂 \n";
		await files.writeFile("notes/2026/a.txt", long, "text/plain");
		expect(await text(files, "notes/2026/a.txt")).toBe(long);
		expect((await files.readdirFile("/")).entries).toMatchObject([{ path: "/notes", isDirectory: true }]);
		expect((await files.readdirFile("/notes")).entries).toMatchObject([
			{ path: "/notes/2026", name: "2026", isDirectory: true },
		]);
		await files.writeFile("made/by/a.txt", "");
		await files.unlinkFile("made/by/a.txt");
		expect(await files.statFile("made/by")).toMatchObject({ path: "/made/by", isDirectory: true });
		await files.rmdirFile("made/by");
		await files.rmdirFile("made");
		await files.writeFile("notes/2026/a.txt", "short", "text/markdown");
		expect(await text(files, "notes/2026/a.txt")).toBe("short");
		expect(await files.statFile("notes/2026/a.txt")).toMatchObject({ size: 5, mimeType: "text/markdown" });
		const bytes = bytesOf(1_000);
		await files.writeFile("b.bin", bytes.slice().buffer, "application/x-own", {
			metadata: { of: ["me", null] },
		});
		expect(isSame(await files.readFile("b.bin"), bytes)).toBe(true);
		expect(await files.statFile("b.bin")).toEqual({
			path: "/b.bin",
			name: "b.bin",
			mimeType: "application/x-own",
			storage: "local",
			size: 1_000,
			isDirectory: false,
			metadata: { of: ["me", null] },
		});
	});

	test("of 2 MB, one byte more and 20 MB are read byte for byte, and streamed in chunks of at most 2 MB [SA-100] [SA-101]", async () => {
		for (const size of [2 * MB, 2 * MB + 1, 20 * MB]) {
			const bytes = bytesOf(size);
			await files.writeFile("large.bin", bytes);
			expect(isSame(await files.readFile("large.bin"), bytes)).toBe(true);
			// As they are kept.
			const kept: number[] = [];
			for await (const piece of own.pieces("large.bin")) kept.push(piece.length);
			expect([Math.max(...kept) <= 2 * MB, kept.reduce((sum, length) => sum + length, 0)]).toEqual([
				true,
				size,
			]);
			for (const chunkSize of [undefined, 300_001, 64 * MB]) {
				const given = chunkSize === undefined ? {} : { chunkSize };
				let [at, index, last] = [0, 0, false];
				for await (const chunk of (await files.readFileStream("large.bin", given)) ?? []) {
					expect([chunk.index, last, chunk.data.length <= 2 * MB]).toEqual([index++, false, true]);
					expect(Buffer.compare(chunk.data, bytes.subarray(at, at + chunk.data.length))).toBe(0);
					at += chunk.data.length;
					last = chunk.isLast;
					expect(last).toBe(index === chunk.totalChunks);
				}
				expect([at, last]).toEqual([size, true]);
			}
		}
	});

	test("that are empty are one last chunk, and unknown ones none [SA-101]", async () => {
		await files.writeFile("empty", "");
		const chunks = [];
		for await (const chunk of (await files.readFileStream("empty")) ?? []) chunks.push(chunk);
		expect(chunks).toEqual([{ data: new Uint8Array(), index: 0, totalChunks: 1, isLast: true }]);
		expect((await files.readFile("empty"))?.byteLength).toBe(0);
		expect(await files.readFileStream("none")).toBeNull();
	});

	test("that are missing are null, folders list only direct children, and only files are unlinked [SA-102]", async () => {
		expect([await files.readFile("none"), await files.statFile("none")]).toEqual([null, null]);
		await files.writeFile("a/b/c.txt", "c");
		await files.writeFile("a/d.txt", "d");
		await files.writeFile("ab.txt", "no child of a");
		const { entries } = await files.readdirFile("a");
		expect(entries.map(({ path }) => path)).toEqual(["/a/b", "/a/d.txt"]);
		await expect(files.unlinkFile("a")).rejects.toMatchObject({ code: "is_folder" });
		await expect(files.unlinkFile("none")).rejects.toMatchObject({ code: "file_not_found" });
		await files.unlinkFile("a/d.txt");
		expect(await files.readFile("a/d.txt")).toBeNull();
		expect((await files.readdirFile("a")).entries.map(({ path }) => path)).toEqual(["/a/b"]);
		await expect(files.readdirFile("none")).rejects.toMatchObject({ code: "folder_not_found" });
	});

	test("are in folders that can be created twice, not where a file is, and are removed only if empty [SA-103]", async () => {
		await files.mkdirFile("x/y");
		expect(await files.mkdirFile("x/y")).toMatchObject({ path: "/x/y", isDirectory: true });
		await files.writeFile("x/y/z.txt", "z");
		await expect(files.mkdirFile("x/y/z.txt")).rejects.toMatchObject({ code: "not_a_folder" });
		await expect(files.writeFile("x/y/z.txt/deeper", "")).rejects.toMatchObject({ code: "not_a_folder" });
		await expect(files.writeFile("x/y", "")).rejects.toMatchObject({ code: "is_folder" });
		await expect(files.rmdirFile("x/y")).rejects.toMatchObject({ code: "folder_not_empty" });
		await expect(files.rmdirFile("x")).rejects.toMatchObject({ code: "folder_not_empty" });
		expect(await text(files, "x/y/z.txt")).toBe("z");
		await files.unlinkFile("x/y/z.txt");
		await files.rmdirFile("x/y");
		expect(await files.statFile("x/y")).toBeNull();
		await expect(files.rmdirFile("x/y")).rejects.toMatchObject({ code: "folder_not_found" });
	});

	test("have one name in any spelling, and none above the root [SA-104]", async () => {
		await files.writeFile("./a.txt", "one");
		for (const path of ["a.txt", "/a.txt", "./a.txt", "x/../a.txt", "//a.txt"])
			expect(await text(files, path)).toBe("one");
		expect((await files.getFileStats()).fileCount).toBe(1);
		for (const path of ["../a.txt", "/../a.txt", "x/../../a.txt", "a/..", "", "a\u0000b"]) {
			await expect(files.writeFile(path, "x")).rejects.toMatchObject({ code: "invalid_path" });
			if (path !== "a/..") await expect(files.readFile(path)).rejects.toMatchObject({ code: "invalid_path" });
		}
	});

	test("are searched line by line, without binary ones, and not for an invalid pattern [SA-105]", async () => {
		await files.writeFile("a.txt", "first\r\nerror: one\nlast error");
		await files.writeFile("sub/b.md", "no\nERROR\nerror\n");
		await files.writeFile("c.bin", new TextEncoder().encode("error\u0000error"));
		expect(await files.grepFiles("error")).toEqual([
			{ path: "/a.txt", lineNumber: 2, line: "error: one" },
			{ path: "/a.txt", lineNumber: 3, line: "last error" },
			{ path: "/sub/b.md", lineNumber: 3, line: "error" },
		]);
		expect(await files.grepFiles("^(?i)error$")).toEqual([
			{ path: "/sub/b.md", lineNumber: 2, line: "ERROR" },
			{ path: "/sub/b.md", lineNumber: 3, line: "error" },
		]);
		await expect(files.grepFiles("(")).rejects.toMatchObject({
			code: "invalid_pattern",
			message: expect.stringContaining('"("'),
		});
	});

	test("are found by globs with folders [SA-106]", async () => {
		for (const path of ["a.ts", "b.md", "src/a.ts", "src/deep/er/c.ts", "src/d.tsx", "src/[x].ts"])
			await files.writeFile(path, "");
		const found = async (glob: string): Promise<string[]> => (await files.findFiles(glob)).paths;
		expect(await found("*.ts")).toEqual(["/a.ts"]);
		expect(await found("src/*.ts")).toEqual(["/src/[x].ts", "/src/a.ts"]);
		expect(await found("**/*.ts")).toEqual(["/a.ts", "/src/[x].ts", "/src/a.ts", "/src/deep/er/c.ts"]);
		expect(await found("/src/**")).toEqual(["/src/[x].ts", "/src/a.ts", "/src/d.tsx", "/src/deep/er/c.ts"]);
		expect(await found("src/**/c.{ts,md}")).toEqual(["/src/deep/er/c.ts"]);
		expect(await found("src/?.ts*")).toEqual(["/src/a.ts", "/src/d.tsx"]);
		expect(await found("[ab].*")).toEqual(["/a.ts", "/b.md"]);
		expect(await found("src/\\[x\\].ts")).toEqual(["/src/[x].ts"]);
		expect(await found("none/*")).toEqual([]);
		await expect(found("{a")).rejects.toMatchObject({ code: "invalid_pattern" });
	});

	test("are counted with their bytes [SA-107]", async () => {
		expect(await files.getFileStats()).toEqual({ totalSize: 0, fileCount: 0 });
		await files.writeFile("a/b.txt", "äb");
		await files.writeFile("c.txt", "1234");
		await files.writeFile("c.txt", "12");
		await files.mkdirFile("d");
		expect(await files.getFileStats()).toEqual({ totalSize: 5, fileCount: 2 });
	});

	test("belong to the thread, and are deleted with it [SA-109]", async () => {
		const other = fileMethods(filesOf(host, "thread-2"));
		await files.writeFile("a.txt", "mine");
		expect([await other.readFile("a.txt"), (await other.readdirFile("/")).entries]).toEqual([null, []]);
		await other.writeFile("a.txt", "theirs");
		await host.journal.delete("thread-1");
		await host.values.deleteSession("thread-1");
		expect([await files.readFile("a.txt"), await files.getFileStats()]).toEqual([
			null,
			{ totalSize: 0, fileCount: 0 },
		]);
		expect((await files.readdirFile("/")).entries).toEqual([]);
		expect(await text(other, "a.txt")).toBe("theirs");
	});

	test("of a tool are stored under unique paths, for any names [SA-044]", async () => {
		let ids = 0;
		const data = Buffer.from("picture").toString("base64");
		const given = { name: "../../x/p.png", mimeType: "image/png", data, width: 3, height: 2 };
		const stored = await storeAttachments(own, [given, { ...given, name: ".." }], () => `id-${++ids}`);
		expect(stored).toEqual([
			{
				id: "id-1",
				type: "file",
				path: "/attachments/id-1/p.png",
				name: "p.png",
				mimeType: "image/png",
				size: 7,
				width: 3,
				height: 2,
			},
			expect.objectContaining({ path: "/attachments/id-2/attachment" }),
		]);
		expect(await text(files, stored[0]?.path ?? "")).toBe("picture");
		expect(await files.statFile("/attachments/id-1/p.png")).toMatchObject({ width: 3, height: 2 });
		await expect(
			storeAttachments(own, [{ ...given, data: "data:image/png;base64,AA" }], () => "id"),
		).rejects.toMatchObject({ code: "invalid_attachment" });
	});

	test("are described by their names if the description was not stored", async () => {
		await host.files?.of("thread-1", "thread-files").write("/lost/page.html", [new Uint8Array(3)]);
		expect(await files.statFile("lost/page.html")).toMatchObject({ mimeType: "text/html", size: 3 });
		expect(await files.statFile("lost")).toMatchObject({ isDirectory: true });
		expect((await files.readdirFile("/")).entries).toMatchObject([{ path: "/lost", isDirectory: true }]);
	});
});

test("a pattern that would never finish in a backtracking engine is matched at once", async () => {
	const files = fileMethods(filesOf(memoryHost(), "t"));
	await files.writeFile("a.txt", `${"a".repeat(50_000)}b`);
	expect(await files.grepFiles("^(a+)+$")).toEqual([]);
	await files.writeFile("a".repeat(200), "");
	expect((await files.findFiles(`${"*a".repeat(60)}b`)).paths).toEqual([]);
});

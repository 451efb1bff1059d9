import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { AssistantTool } from "./assistant-tool.ts";
import { createFetchUrl } from "./fetch-url.ts";
import { createAssistantTools } from "./index.ts";

let folder: string;
let root: string;

beforeEach(() => {
	folder = temporaryFolder();
	root = join(folder, "project");
	put("readme.md", "# Lighthouse\n\nKeeps ships off the rocks.\n");
	put("src/lamp.ts", "export function light(): string {\n\treturn 'on';\n}\n");
	put("src/deep/horn.ts", "// the Horn sounds in fog\nexport const horn = 1;\n");
	put("node_modules/x/index.js", "horn");
	put(".git/config", "horn");
	put(".gitignore", "out/\n*.log\n!keep.log\n");
	put("out/built.js", "horn");
	put("a.log", "horn");
	put("keep.log", "horn");
	put("logo.png", "\0\0");
	put("blob.dat", "a\0b horn");
	writeFileSync(join(folder, "secret.txt"), "horn secret");
	symlinkSync(join(folder, "secret.txt"), join(root, "leak.txt"));
	symlinkSync(folder, join(root, "up"));
	symlinkSync(join(root, "readme.md"), join(root, "again.md"));
});

function put(path: string, text: string): void {
	mkdirSync(dirname(join(root, path)), { recursive: true });
	writeFileSync(join(root, path), text);
}

function call(name: string, params: Record<string, unknown>): Promise<string> {
	const tool = createAssistantTools({ root }).find((candidate) => candidate.name === name) as AssistantTool;
	return tool.run(params);
}

describe("the set of tools", () => {
	test("has no fetch_url unless the network is allowed, and every tool can be run again", () => {
		expect(createAssistantTools({ root }).map((tool) => tool.name)).toEqual([
			"list_files",
			"read_file",
			"search_text",
		]);
		const all = createAssistantTools({ root, allowNetwork: true });
		expect(all.map((tool) => tool.name)).toContain("fetch_url");
		expect(all.every((tool) => tool.retryPolicy === "pure")).toBe(true);
	});
});

describe("staying inside the directory", () => {
	test.each(["../secret.txt", "src/../../secret.txt", "/etc/passwd", "leak.txt", "up/secret.txt"])(
		"reading %s is rejected",
		async (path) => {
			await expect(call("read_file", { path })).rejects.toMatchObject({ code: "path_outside_root" });
		},
	);

	test("listing and searching outside is rejected, and links to the outside are not followed", async () => {
		await expect(call("list_files", { prefix: ".." })).rejects.toMatchObject({ code: "path_outside_root" });
		await expect(call("search_text", { pattern: "x", path: "up" })).rejects.toMatchObject({
			code: "path_outside_root",
		});
		expect(await call("list_files", {})).not.toMatch(/leak|secret|up\//);
		expect(await call("search_text", { pattern: "secret" })).toMatch(/^0 matching lines/);
	});

	test("a link to a file inside can be read, and so can an absolute path inside", async () => {
		expect(await call("read_file", { path: "again.md" })).toContain("Lighthouse");
		expect(await call("read_file", { path: join(root, "readme.md") })).toContain("Lighthouse");
	});

	test("a NUL character, a directory and a missing file each get a clear error", async () => {
		await expect(call("read_file", { path: "a\0b" })).rejects.toMatchObject({ code: "path_invalid" });
		await expect(call("read_file", { path: "src" })).rejects.toThrow(/is a directory. Call list_files/);
		await expect(call("read_file", { path: "lib/lamp.ts" })).rejects.toThrow(/Did you mean "src\/lamp.ts"/);
		await expect(call("read_file", { path: "blob.dat" })).rejects.toThrow(/binary file/);
	});
});

describe("list_files", () => {
	test("lists near files first and omits those that a question does not refer to", async () => {
		expect((await call("list_files", {})).split("\n").map((line) => line.split("\t")[0])).toEqual([
			"7 files (1 binary file left out)",
			".gitignore",
			"again.md",
			"blob.dat",
			"keep.log",
			"readme.md",
			"src/lamp.ts",
			"src/deep/horn.ts",
		]);
	});

	test("narrows by prefix and glob, and reports what a limit omitted", async () => {
		expect(await call("list_files", { prefix: "src", glob: "*.ts" })).toMatch(/^2 files\nsrc\/lamp.ts\t/);
		expect(await call("list_files", { glob: "src/*.ts" })).toMatch(/^1 file\n/);
		expect(await call("list_files", { limit: 2 })).toMatch(/first 2 shown; 5 more/);
	});
});

describe("read_file", () => {
	test("numbers the lines and explains how to read on", async () => {
		put("long.txt", Array.from({ length: 5012 }, (_, index) => `line ${index + 1}`).join("\n"));
		const first = await call("read_file", { path: "long.txt", to: 200 });
		expect(first.split("\n")[0]).toBe(
			'long.txt: lines 1-200 of 5,012; call read_file with {"path":"long.txt","from":201} to read on',
		);
		expect(first.split("\n")[200]).toBe("200\tline 200");
		expect((await call("read_file", { path: "long.txt", from: 5000 })).split("\n")[0]).toBe(
			"long.txt: lines 5,000-5,012 of 5,012",
		);
		await expect(call("read_file", { path: "long.txt", from: 6000 })).rejects.toThrow(/only 5,012 lines/);
	});

	test("cuts very long lines and returns no more than its limit", async () => {
		put("wide.txt", Array.from({ length: 300 }, () => "x".repeat(10_000)).join("\n"));
		const answer = await call("read_file", { path: "wide.txt", to: 300 });
		expect(answer.length).toBeLessThan(170_000);
		expect(answer).toContain("(6,000 more characters)");
		expect(answer.split("\n")[0]).toMatch(/call read_file with/);
	});
});

describe("search_text", () => {
	test("ignores case by default and returns file, line and text", async () => {
		const answer = await call("search_text", { pattern: "horn" });
		expect(answer).toMatch(/^3 matching lines in 2 files \(6 files searched\)/);
		expect(answer).toContain("src/deep/horn.ts:1: // the Horn sounds in fog");
		expect(answer).not.toMatch(/node_modules|out\/|a\.log/);
		expect(await call("search_text", { pattern: "Horn", case_sensitive: true })).toMatch(/^1 matching line /);
	});

	test("reads regular expressions only on request, and shows context", async () => {
		expect(await call("search_text", { pattern: "l.mp|li.ht\\(", regex: true })).toMatch(/^1 matching line/);
		expect(await call("search_text", { pattern: "li.ht(" })).toMatch(/^0 matching lines/);
		expect(await call("search_text", { pattern: "return", context: 1 })).toContain("src/lamp.ts-1- export");
		await expect(call("search_text", { pattern: "(", regex: true })).rejects.toThrow(
			/not a valid regular expression/,
		);
	});

	test("a catastrophic regular expression is stopped within its time", async () => {
		put("evil.txt", `${"a".repeat(60)}!`);
		const started = performance.now();
		await expect(call("search_text", { pattern: "(a+)+$", regex: true })).rejects.toMatchObject({
			code: "search_timed_out",
		});
		expect(performance.now() - started).toBeLessThan(6_000);
	});

	test("one file full of matches does not hide the others", async () => {
		put("many.txt", "horn\n".repeat(500));
		const answer = await call("search_text", { pattern: "horn", limit: 20 });
		expect(answer).toMatch(/^503 matching lines in 3 files/);
		expect(answer).toContain("many.txt: 500 matching lines, first 17 shown");
		expect(answer).toContain("keep.log:1: horn");
	});
});

describe("fetch_url", () => {
	test.each([
		"http://127.0.0.1:1/",
		"http://localhost:1/",
		"http://[::1]:1/",
		"http://169.254.169.254/latest/meta-data",
		"http://[::ffff:10.0.0.1]/",
		"http://2130706433/",
		"http://[64:ff9b::7f00:1]/",
		"http://localhost./",
	])("rejects the private address %s", async (url) => {
		await expect(createFetchUrl().run({ url })).rejects.toMatchObject({ code: "fetch_private_address" });
	});

	test("rejects other protocols and credentials", async () => {
		await expect(createFetchUrl().run({ url: "file:///etc/passwd" })).rejects.toThrow(
			/neither http nor https/,
		);
		await expect(createFetchUrl().run({ url: "http://a:b@example.com" })).rejects.toThrow(/password/);
	});

	test("returns the text of a page, follows redirects, and stops at its limits", async () => {
		const server = createServer((request, response) => {
			if (request.url === "/hang") return;
			if (request.url === "/moved") response.writeHead(302, { location: "/page" }).end();
			else if (request.url === "/image") response.writeHead(200, { "content-type": "image/png" }).end("x");
			else
				response
					.writeHead(200, { "content-type": "text/html" })
					.end("<script>evil()</script><h1>Fog &amp; rain</h1><p>all day</p>");
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const tool = createFetchUrl({ allowPrivate: ["127.0.0.1"] });
		const hurried = createFetchUrl({ allowPrivate: ["127.0.0.1"], timeLimit: 300 });
		try {
			expect(await tool.run({ url: `${base}/moved` })).toBe(
				`${base}/page: HTTP 200, text/html\nFog & rain\n\nall day`,
			);
			await expect(tool.run({ url: `${base}/image` })).rejects.toMatchObject({ code: "fetch_not_text" });
			await expect(hurried.run({ url: `${base}/hang` })).rejects.toMatchObject({ code: "fetch_timed_out" });
		} finally {
			server.closeAllConnections();
			server.close();
		}
	});
});

describe("files as they occur in repositories", () => {
	test.each([
		["\r\n", "one\r\nhorn\r\nthree\r\n"],
		["\r", "one\rhorn\rthree"],
		["a byte order mark", "\ufeffone\nhorn\nthree\n"],
		["UTF-16", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("one\nhorn\nthree", "utf16le")])],
	])("are read by lines, with %s", async (_, bytes) => {
		writeFileSync(join(root, "odd.txt"), bytes);
		expect(await call("read_file", { path: "odd.txt" })).toBe(
			"odd.txt: lines 1-3 of 3\n1\tone\n2\thorn\n3\tthree",
		);
		expect(await call("search_text", { pattern: "horn", glob: "odd.txt" })).toContain("odd.txt:2: horn");
	});

	test("are read as Windows-1252 if they are not UTF-8", async () => {
		writeFileSync(join(root, "old.txt"), Buffer.from("caf\xe9 horn\n", "latin1"));
		expect(await call("read_file", { path: "old.txt" })).toContain("1\tcafé horn");
	});

	test("are omitted if the repository around the folder ignores them", async () => {
		put("one.txt", "a");
		put("two.txt", "a");
		put("three.txt", "a");
		put("src/one.txt", "a");
		mkdirSync(join(folder, ".git/info"), { recursive: true });
		writeFileSync(join(folder, ".git/info/exclude"), "three.txt\n");
		writeFileSync(join(folder, ".gitignore"), "one.txt\nproject/two.txt\n");
		const inner = createAssistantTools({ root: join(root, "src") });
		const list = inner.find(({ name }) => name === "list_files") as AssistantTool;
		expect(await list.run({})).toContain("one.txt"); // the project is a repository of its own
		rmSync(join(root, ".git"), { recursive: true });
		const listed = await call("list_files", {});
		expect(listed).not.toMatch(/one\.txt|two\.txt|three\.txt/);
		expect(listed).toContain("src/lamp.ts");
	});

	test("are listed in a folder that its repository ignores entirely", async () => {
		rmSync(join(root, ".git"), { recursive: true });
		mkdirSync(join(folder, ".git"));
		writeFileSync(join(folder, ".gitignore"), "*\n");
		expect(await call("list_files", {})).toContain("src/lamp.ts");
	});
});

import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { AssistantTool } from "./assistant-tool.ts";
import { type AssistantToolsOptions, createAssistantTools, planChange } from "./index.ts";
import { replaceFile } from "./replace-file.ts";

let folder: string;
let root: string;
let tools: AssistantTool[];

beforeEach(() => {
	folder = temporaryFolder();
	root = join(folder, "project");
	mkdirSync(join(root, ".git"), { recursive: true });
	mkdirSync(join(root, "src"));
	put("lamp.txt", "The lamp is green.\n");
	put(".git/config", "horn\n");
	writeFileSync(join(folder, "secret.txt"), "secret\n");
	symlinkSync(join(folder, "secret.txt"), join(root, "leak.txt"));
	symlinkSync(folder, join(root, "up"));
	symlinkSync(join(root, ".git"), join(root, "vcs"));
	symlinkSync(join(folder, "nothing.txt"), join(root, "dangling.txt"));
	symlinkSync(join(root, "lamp.txt"), join(root, "again.txt"));
	const options: AssistantToolsOptions = { root, allowWrite: true };
	tools = createAssistantTools(options);
});

const put = (path: string, text: string | Uint8Array): void => writeFileSync(join(root, path), text);
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const toolNamed = (name: string): AssistantTool => tools.find((tool) => tool.name === name) as AssistantTool;

type Name = "write_file" | "edit_file";

/** Runs a call as it runs after an approval. */
async function approved(
	name: Name,
	params: Record<string, unknown>,
	idempotencyKey = "key",
): Promise<string> {
	const { versions } = await planChange(root, name, params);
	return toolNamed(name).run(params, { approval: { basis: versions }, idempotencyKey });
}

const write = (path: string, content = "new\n"): Promise<string> => approved("write_file", { path, content });
const edit = (params: Record<string, unknown>): Promise<string> =>
	approved("edit_file", { path: "lamp.txt", ...params });

test("there are no tools that write unless allowed", () => {
	expect(createAssistantTools({ root }).map(({ name }) => name)).not.toContain("write_file");
	expect(tools.map(({ name }) => name)).toEqual([
		"list_files",
		"read_file",
		"search_text",
		"write_file",
		"edit_file",
		"update_plan",
	]);
});

describe("locations of written files", () => {
	test.each([
		"../secret.txt",
		"src/../../secret.txt",
		"/etc/holdfast-test",
		"leak.txt",
		"up/secret.txt",
		"up/new/file.txt",
	])("%s is rejected as outside the folder", async (path) => {
		await expect(write(path)).rejects.toMatchObject({ code: "path_outside_root" });
	});

	test.each([
		".git/config",
		".GIT/hooks/post-commit",
		"vcs/config",
		"vcs/hooks/new",
		"src/node_modules/x.js",
		".holdfast/x",
	])("%s is rejected as protected", async (path) => {
		await expect(write(path)).rejects.toMatchObject({ code: "path_protected" });
		expect(textOf(".git/config")).toBe("horn\n");
	});

	test.each([
		["dangling.txt", "path_invalid"],
		["dangling.txt/x", "path_invalid"],
		["a\0b", "path_invalid"],
		["src", "path_not_a_file"],
		["src/", "path_not_a_file"],
		["", "path_not_a_file"],
		["lamp.txt/below", "path_not_found"],
	])("%j is rejected with %s", async (path, code) => {
		await expect(write(path)).rejects.toMatchObject({ code });
	});

	test("folders are created, links inside are followed, and an absolute path inside is accepted", async () => {
		expect(await write("deep/er/new.txt")).toBe("Created deep/er/new.txt: 1 line.");
		await write("again.txt", "through the link\n");
		expect(textOf("lamp.txt")).toBe("through the link\n");
		await write(join(root, "src/absolute.txt"));
		expect(textOf("src/absolute.txt")).toBe("new\n");
	});

	test("a write-protected file is unchanged, and so are binary and very large ones", async () => {
		chmodSync(join(root, "lamp.txt"), 0o444);
		await expect(write("lamp.txt")).rejects.toMatchObject({ code: "path_protected" });
		put("blob.bin", new Uint8Array([0xff, 0xfe, 0x00, 0x41]));
		await expect(write("blob.bin")).rejects.toMatchObject({ code: "file_not_text" });
		await expect(write("large.txt", "x".repeat(3_000_000))).rejects.toMatchObject({ code: "file_too_large" });
		expect(readdirSync(root).filter((name) => name.startsWith(".holdfast"))).toEqual([]);
	});

	test("an error of the disk is reported without paths of this machine", async () => {
		const absolute = join(root, "lamp.txt/below.txt");
		const place = { absolute, relative: "lamp.txt/below.txt", root, kind: "nothing" as const, size: 0 };
		const replaced = replaceFile(place, { text: "", draft: "d", stillHolds: async () => {} });
		await expect(replaced).rejects.toMatchObject({
			code: "path_unwritable",
			message: expect.stringMatching(/^"lamp\.txt\/below\.txt" cannot be written: E[A-Z]+\.$/),
		});
	});

	test("a file keeps its mode", async () => {
		chmodSync(join(root, "lamp.txt"), 0o751);
		await edit({ find: "green", replace: "red" });
		expect(statSync(join(root, "lamp.txt")).mode & 0o7777).toBe(0o751);
	});
});

describe("edit_file", () => {
	test("requires its text to occur once, or replaces all", async () => {
		put("lamp.txt", "a lamp\na lamp\nno lamp\n");
		await expect(edit({ find: "a lamp", replace: "x" })).rejects.toThrow(/more than once \(lines 1, 2\)/);
		await expect(edit({ find: "horn", replace: "x" })).rejects.toThrow(/has to match exactly/);
		await expect(edit({ find: "", replace: "x" })).rejects.toMatchObject({ code: "tool_input_invalid" });
		await expect(edit({ path: "none.txt", find: "a", replace: "b" })).rejects.toThrow(/with write_file/);
		expect(await edit({ find: "a lamp\n", replace: "", all: true })).toBe(
			"Edited lamp.txt: 2 places replaced.",
		);
		expect(textOf("lamp.txt")).toBe("no lamp\n");
		put("lamp.txt", "aaa");
		await expect(edit({ find: "aa", replace: "b" })).rejects.toMatchObject({ code: "text_not_unique" });
	});

	test("leaves line ends, marks and dollars unchanged", async () => {
		put("lamp.txt", "\ufeffone\r\ntwo\r\nthree\r\n");
		await edit({ find: "one\ntwo", replace: "1 $& $1\n2" });
		expect(textOf("lamp.txt")).toBe("\ufeff1 $& $1\r\n2\r\nthree\r\n");
	});

	test("replaces exactly the text it names, in any text", async () => {
		const piece = fc.stringMatching(/^[ab\n$&]{0,8}$/);
		await fc.assert(
			fc.asyncProperty(piece, piece, piece, piece, async (start, find, replace, end) => {
				const before = start + find + end;
				fc.pre(find !== "" && before.indexOf(find) === before.lastIndexOf(find));
				put("lamp.txt", before);
				const { after } = await planChange(root, "edit_file", { path: "lamp.txt", find, replace });
				expect(after).toBe(start + replace + end);
			}),
			{ numRuns: 100 },
		);
	});

	test("is visible to read_file at once, even if the new file looks the same", async () => {
		const read = toolNamed("read_file");
		const time = new Date(1_700_000_000_000);
		utimesSync(join(root, "lamp.txt"), time, time);
		expect(await read.run({ path: "lamp.txt" })).toContain("green");
		await edit({ find: "green", replace: "brown" });
		utimesSync(join(root, "lamp.txt"), time, time);
		expect(await read.run({ path: "lamp.txt" })).toContain("brown");
	});
});

describe("approval", () => {
	const params = { path: "lamp.txt", find: "green", replace: "green green" };

	test("is required for changes of a file, and not for impossible or empty changes", async () => {
		const asks = (name: Name, given: Record<string, unknown>) => toolNamed(name).needsApproval?.(given);
		expect(await asks("edit_file", params)).toBe(true);
		expect(await asks("write_file", { path: "new.txt", content: "" })).toBe(true);
		expect(await asks("edit_file", { ...params, find: "horn" })).toBe(false);
		expect(await asks("write_file", { path: "../x", content: "" })).toBe(false);
		expect(await asks("write_file", { path: "lamp.txt", content: "The lamp is green.\n" })).toBe(false);
	});

	test("is always required for a write, regardless of the caller", async () => {
		for (const approval of [undefined, {}, { basis: "yes" }, { basis: { before: null } }])
			await expect(
				toolNamed("edit_file").run(params, approval === undefined ? {} : { approval }),
			).rejects.toMatchObject({ code: "file_changed" });
		expect(textOf("lamp.txt")).toBe("The lamp is green.\n");
	});

	test("applies only to the shown file and to the shown change", async () => {
		const { versions } = await planChange(root, "edit_file", params);
		const context = { approval: { basis: versions } };
		for (const changed of ["The lamp is quite green.\n", "No lamp.\n"]) {
			put("lamp.txt", changed);
			await expect(toolNamed("edit_file").run(params, context)).rejects.toMatchObject({
				code: "file_changed",
			});
			expect(textOf("lamp.txt")).toBe(changed);
		}
		put("lamp.txt", "The lamp is green.\n");
		await expect(toolNamed("edit_file").run({ ...params, replace: "red" }, context)).rejects.toMatchObject({
			code: "file_changed",
		});
		const fresh = await planChange(root, "write_file", { path: "new.txt", content: "mine\n" });
		put("new.txt", "theirs\n");
		await expect(
			toolNamed("write_file").run(
				{ path: "new.txt", content: "mine\n" },
				{ approval: { basis: fresh.versions } },
			),
		).rejects.toMatchObject({ code: "file_changed" });
		expect(textOf("new.txt")).toBe("theirs\n");
	});

	test("is checked again right before the new file replaces the old one", async () => {
		const { place, after } = await planChange(root, "edit_file", params);
		const seen: string[] = [];
		const replaced = replaceFile(place, {
			text: after,
			draft: "d",
			async stillHolds() {
				seen.push(textOf(".holdfast-d.tmp"), textOf("lamp.txt"));
				throw new Error("changed");
			},
		});
		await expect(replaced).rejects.toThrow("changed");
		expect(seen).toEqual(["The lamp is green green.\n", "The lamp is green.\n"]);
		expect([textOf("lamp.txt"), existsSync(join(root, ".holdfast-d.tmp"))]).toEqual([
			"The lamp is green.\n",
			false,
		]);
	});

	test("makes a change once, even if the call runs several times", async () => {
		const { versions } = await planChange(root, "edit_file", params);
		const context = { approval: { basis: versions }, idempotencyKey: "k" };
		const answers = await Promise.all([1, 2, 3].map(() => toolNamed("edit_file").run(params, context)));
		expect(answers).toEqual([
			"Edited lamp.txt: 1 place replaced.",
			"lamp.txt now matches the approved version.",
			"lamp.txt now matches the approved version.",
		]);
		expect(textOf("lamp.txt")).toBe("The lamp is green green.\n");
	});
});

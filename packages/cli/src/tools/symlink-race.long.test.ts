// A folder of the root that another thread keeps replacing with a link to a folder outside while the tools work.
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { AssistantTool } from "./assistant-tool.ts";
import { createAssistantTools, planChange } from "./index.ts";
import { openFolder, openInside } from "./open-inside.ts";
import { replaceFile } from "./replace-file.ts";

let root: string;
let outside: string;
let tools: AssistantTool[];
let exchanger: Worker | undefined;

beforeEach(() => {
	const folder = temporaryFolder();
	root = join(folder, "project");
	outside = join(folder, "outside");
	mkdirSync(join(root, "sub"), { recursive: true });
	mkdirSync(outside);
	for (const [place, text] of [
		[join(root, "sub"), "ours\n"],
		[outside, "SECRET of others\n"],
	] as const)
		for (const name of ["a.txt", "b.txt"]) writeFileSync(join(place, name), text);
	writeFileSync(join(outside, "hidden.txt"), "SECRET\n");
	symlinkSync(outside, join(root, "link"));
	tools = createAssistantTools({ root, allowWrite: true });
});
afterEach(async () => {
	await exchanger?.terminate();
	exchanger = undefined;
});

const exchange = `
	const { renameSync } = require("node:fs");
	const { workerData: root, parentPort } = require("node:worker_threads");
	const [sub, link, kept] = ["sub", "link", "kept"].map((name) => root + "/" + name);
	let made = 0;
	// Who finds no folder there may have made one: it is put aside.
	const take = (from) => {
		for (;;) {
			try { return renameSync(from, sub); } catch {}
			try { renameSync(sub, root + "/made-" + made++); } catch {}
		}
	};
	for (let count = 0; ; count++) {
		renameSync(sub, kept); take(link);
		renameSync(sub, link); take(kept);
		if (count === 0) parentPort.postMessage("begun");
	}`;

/** Swaps the folder and the link in another thread until the test ends. */
async function exchangeForEver(): Promise<void> {
	const worker = new Worker(exchange, { eval: true, workerData: root });
	exchanger = worker;
	await new Promise((begun) => worker.once("message", begun));
}

function call(name: string, params: Record<string, unknown>): Promise<string> {
	const tool = tools.find((each) => each.name === name) as AssistantTool;
	return tool.run(params);
}

/** Counts how often calls were answered, rejected, and leaked what is outside. */
async function attempts(
	count: number,
	params: (index: number) => readonly [string, Record<string, unknown>],
): Promise<{ answered: number; refused: number; leaked: number }> {
	const seen = { answered: 0, refused: 0, leaked: 0 };
	for (let index = 0; index < count; index++) {
		const answer = await call(...params(index)).catch((error: Error) => error);
		const text = answer instanceof Error ? answer.message : answer;
		if (/SECRET|hidden|17 bytes/.test(text)) seen.leaked++;
		else if (answer instanceof Error) seen.refused++;
		else seen.answered++;
	}
	return seen;
}

describe("while a folder is exchanged with a link to another outside", () => {
	test.each([
		["read_file", { path: "sub/a.txt" }],
		["search_text", { pattern: "secret", path: "sub/a.txt" }],
		["search_text", { pattern: "others" }],
		["list_files", { prefix: "sub" }],
		["list_files", {}],
	] as const)("%s %j returns nothing from outside", async (name, params) => {
		await exchangeForEver();
		// A text that was read is cached, so each attempt uses another agent.
		const seen = await attempts(600, () => {
			tools = createAssistantTools({ root });
			return [name, params];
		});
		console.log(`${name} ${JSON.stringify(params)}: ${JSON.stringify(seen)}`);
		expect(seen.leaked).toBe(0);
		expect(seen.answered).toBeGreaterThan(0);
	});

	test("nothing is written outside", async () => {
		await exchangeForEver();
		const before = readdirSync(outside).sort();
		let written = 0;
		for (let index = 0; index < 600; index++) {
			const params = { path: `sub/new/${index}.txt`, content: "theirs\n" };
			try {
				const { versions } = await planChange(root, "write_file", params);
				const tool = tools.find(({ name }) => name === "write_file") as AssistantTool;
				await tool.run(params, { approval: { basis: versions }, idempotencyKey: `${index}` });
				written++;
			} catch {}
		}
		console.log(`${written} of 600 files were written`);
		expect(readdirSync(outside).sort()).toEqual(before);
		expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("SECRET of others\n");
	});
});

describe("a folder that is exchanged once", () => {
	const swap = (): void => {
		renameSync(join(root, "sub"), join(root, "kept"));
		renameSync(join(root, "link"), join(root, "sub"));
	};

	test("right before the new file replaces the old one, is not written to", async () => {
		const { place, after } = await planChange(root, "write_file", { path: "sub/a.txt", content: "new\n" });
		const replaced = replaceFile(place, { text: after, draft: "d", stillHolds: async () => swap() });
		await expect(replaced).rejects.toMatchObject({ code: "path_invalid" });
		expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("SECRET of others\n");
		expect(readFileSync(join(root, "kept/a.txt"), "utf8")).toBe("ours\n");
		expect([...readdirSync(outside), ...readdirSync(join(root, "kept"))].join()).not.toContain(".holdfast");
	});

	test("after the check, gets no new folders and no file", async () => {
		const params = { path: "sub/deep/new.txt", content: "new\n" };
		const { place, after } = await planChange(root, "write_file", params);
		swap();
		const replaced = replaceFile(place, { text: after, draft: "d", stillHolds: async () => {} });
		await expect(replaced).rejects.toMatchObject({ code: "path_invalid" });
		expect(existsSync(join(outside, "deep"))).toBe(false);
	});

	test.each([
		["as this system says it", undefined],
		["as a system without /proc can know it", { folder: undefined }],
		["where /proc is not mounted", { folder: "/proc/none/fd" }],
	])("is detected when it is opened, %s", async (_name, descriptors) => {
		const file = { absolute: join(root, "sub/a.txt"), relative: "sub/a.txt" };
		const folder = { absolute: join(root, "sub"), relative: "sub" };
		await (await openInside(file, descriptors)).close();
		await (await openFolder(folder, descriptors)).handle.close();
		swap();
		await expect(openInside(file, descriptors)).rejects.toMatchObject({ code: "path_invalid" });
		await expect(openFolder(folder, descriptors)).rejects.toThrow(/moved or replaced|ENOTDIR|ELOOP/);
	});
});

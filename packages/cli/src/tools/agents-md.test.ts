import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { agentsFiles, agentsInstructions, createAssistantTools } from "./index.ts";

let outside: string;
let root: string;
beforeEach(() => {
	outside = temporaryFolder();
	root = join(outside, "repository");
	mkdirSync(join(root, ".git"), { recursive: true });
	mkdirSync(join(root, "packages/core/src"), { recursive: true });
});
const write = (path: string, text: string): void => writeFileSync(join(root, path), text);

describe("AGENTS.md of a repository", () => {
	test("are read from its root down to the current folder, the nearest last, and never from above", () => {
		writeFileSync(join(outside, "AGENTS.md"), "Outside.");
		write("AGENTS.md", "Use tabs.\n");
		write("packages/core/AGENTS.md", "Test it.");
		const files = agentsFiles(join(root, "packages/core"));
		expect(files).toEqual([
			{ path: "../../AGENTS.md", text: "Use tabs." },
			{ path: "AGENTS.md", text: "Test it." },
		]);
		expect(agentsInstructions(files)).toBe(
			"\n\nThe repository's instructions in ../../AGENTS.md:\nUse tabs.\n\nThe repository's instructions in AGENTS.md:\nTest it.",
		);
		expect(agentsFiles(outside)).toEqual([{ path: "AGENTS.md", text: "Outside." }]);
	});

	test("that are empty, a folder, too large or outside the repository are omitted", () => {
		write("AGENTS.md", "  \n");
		mkdirSync(join(root, "packages/AGENTS.md"));
		write("packages/core/AGENTS.md", "x".repeat(1_000_001));
		writeFileSync(join(outside, "secret"), "A secret.");
		symlinkSync(join(outside, "secret"), join(root, "packages/core/src/AGENTS.md"));
		expect(agentsFiles(join(root, "packages/core/src"))).toEqual([]);
	});

	test("that are long are cut, with a note", () => {
		write("AGENTS.md", `${"a".repeat(15_999)}😀${"b".repeat(100)}`);
		const text = agentsInstructions(agentsFiles(root));
		expect(text).toMatch(/a\n\(102 more characters of AGENTS\.md are omitted\.\)$/);
	});
});

test("a model that reads a file below gets the path of its instructions", async () => {
	write("AGENTS.md", "Use tabs.");
	write("packages/core/AGENTS.md", "Test it.");
	write("packages/core/src/index.ts", "export {};");
	write("packages/index.ts", "export {};");
	const read = createAssistantTools({ root }).find(({ name }) => name === "read_file");
	const told = async (path: string, from = 1) => String(await read?.run({ path, from }, undefined as never));
	expect(await told("packages/core/src/index.ts")).toMatch(
		/instructions for you in packages\/core\/AGENTS\.md\.\)$/,
	);
	for (const path of ["packages/index.ts", "packages/core/AGENTS.md", "AGENTS.md"])
		expect(await told(path)).not.toContain("instructions for you");
});

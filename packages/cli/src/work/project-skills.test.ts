import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { followedIn, followedPlugins, projectSkills } from "./project-skills.ts";

const write = (path: string, text: string): void => {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
};
const skill = (name: string, more = ""): string =>
	`---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nBody.\n`;

test("finds the skills of a folder and of its repository's root, the nearest first, and explains why others are omitted", async () => {
	const root = temporaryFolder();
	const dir = join(root, "packages/core");
	mkdirSync(join(root, ".git"));
	write(join(root, "AGENTS.md"), "Use tabs.");
	write(join(root, ".claude/skills/review/SKILL.md"), skill("review", "version: 1\n"));
	write(join(root, ".agents/skills/tidy/SKILL.md"), skill("tidy"));
	write(join(root, "skills/wrong/SKILL.md"), "no front matter");
	write(join(dir, "skills/tidy/SKILL.md"), skill("tidy", "license: nearest\n"));
	mkdirSync(join(dir, ".agents/skills"), { recursive: true });
	const outside = temporaryFolder();
	write(join(outside, "secret/SKILL.md"), skill("secret"));
	symlinkSync(outside, join(dir, ".claude"));
	symlinkSync(join(outside, "secret"), join(root, "skills/secret"));
	const found = await projectSkills(dir);
	expect(found.skills.map(({ name, license }) => [name, license])).toEqual([
		["tidy", "nearest"],
		["review", undefined],
	]);
	expect(found.problems).toEqual([expect.stringContaining('The skill "wrong" has no front matter.')]);
	expect(await followedIn(dir)).toEqual([
		"../../AGENTS.md",
		"skills",
		"../../skills",
		"../../.agents/skills",
		"../../.claude/skills",
	]);

	const model = scriptedModel(["done"]);
	await (await new Agent({ model, plugins: followedPlugins(dir) }).send("go")).result();
	expect(model.requests[0]?.system).toContain("- tidy: Does tidy.\n- review: Does review.");
});

test("adds nothing in a folder without skills", async () => {
	const dir = temporaryFolder();
	write(join(dir, "skills/list.md"), "no skill");
	expect(followedPlugins(dir).map(({ name }) => name)).toEqual(["agents-md"]);
	expect(await followedIn(dir)).toEqual([]);
	expect(await projectSkills(dir)).toEqual({ skills: [], problems: [] });
});

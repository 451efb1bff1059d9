import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { loadSkills } from "./load-skills.ts";
import { shapedSkills } from "./public-shapes.fixture.ts";
import type { SkillSource } from "./skill.ts";

const textOf = (name: string, more = ""): string =>
	`---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
	promise.then(
		() => "resolved",
		({ code }) => code,
	);

/** Writes files and returns their folder. */
function folderWith(files: Readonly<Record<string, string>>): string {
	const folder = temporaryFolder();
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	}
	return folder;
}

describe("loadSkills", () => {
	test("accepts the shapes of public skills, strictly where the format allows them", async () => {
		expect(shapedSkills.length).toBeGreaterThanOrEqual(60);
		const folder = folderWith(
			Object.fromEntries(shapedSkills.map(({ name, text }) => [`${name}/SKILL.md`, text])),
		);
		const lenient = await loadSkills({ folders: [folder], format: "lenient" });
		expect(lenient.map(({ name }) => name)).toEqual(shapedSkills.map(({ name }) => name).sort());
		const refused: string[] = [];
		const onInvalid = (error: Error): void =>
			void refused.push((error as unknown as { data: { skill: string } }).data.skill);
		const strict = await loadSkills({ folders: [folder], onInvalid });
		const outside = shapedSkills.filter(({ reads }) => reads === "lenient").map(({ name }) => name);
		expect(refused).toEqual(outside.sort());
		expect(strict).toHaveLength(shapedSkills.length - outside.length);
	});

	test("reads folders of skills, a skill's own folder, packages, values and functions in order", async () => {
		const folder = folderWith({
			"skills/one/SKILL.md": textOf("one"),
			"skills/one/references/a.md": "A",
			"skills/notes.txt": "no skill",
			"skills/empty/readme.md": "no skill",
			"two/SKILL.md": textOf("two"),
			"node_modules/@acme/tips/skills/three/SKILL.md": textOf("three"),
		});
		const sources: readonly SkillSource[] = [
			{ package: "@acme/tips", from: folder },
			{ text: textOf("four"), files: { "b.md": "B" } },
			async () => [{ text: textOf("five") }],
		];
		const loaded = await loadSkills({ folders: [join(folder, "skills"), join(folder, "two")], sources });
		expect(loaded.map(({ name, files }) => [name, ...files])).toEqual([
			["one", "references/a.md"],
			["two"],
			["three"],
			["four", "b.md"],
			["five"],
		]);
		expect(new TextDecoder().decode(await loaded[0]?.readFile("references/a.md"))).toBe("A");
		expect(await loadSkills({ sources: loaded })).toEqual(loaded);
	});

	test("rejects unusable skills, with a code each", async () => {
		const one = { text: textOf("one") };
		const linked = folderWith({ "skills/one/SKILL.md": textOf("one"), "secret.txt": "secret" });
		symlinkSync(join(linked, "secret.txt"), join(linked, "skills/one/link.txt"));
		const wrongName = folderWith({ "skills/one/SKILL.md": textOf("other") });
		const cases: readonly (readonly [string, Parameters<typeof loadSkills>[0]])[] = [
			["invalid_option", {}],
			["invalid_option", { sources: [{} as never] }],
			["skill_duplicate", { sources: [one, one] }],
			["skill_source_missing", { folders: [join(linked, "nowhere")] }],
			["skill_source_missing", { sources: [{ package: "@acme/nowhere" }] }],
			["skill_source_missing", { sources: [{ package: "../up" }] }],
			["skill_path_outside", { folders: [join(linked, "skills")] }],
			["skill_name_invalid", { folders: [join(wrongName, "skills")] }],
			["skill_too_large", { sources: [one], maxBodyCharacters: 2 }],
			["skill_too_large", { sources: [{ ...one, files: { a: "long" } }], maxFileBytes: 2 }],
			["skill_path_outside", { sources: [{ ...one, files: { "../a": "" } }] }],
		];
		for (const [code, options] of cases) expect(await codeOf(loadSkills(options))).toBe(code);
	});

	test("omits unusable skills and keeps the first of two names with `onInvalid`", async () => {
		const codes: unknown[] = [];
		const loaded = await loadSkills({
			folders: ["/nowhere-at-all"],
			sources: [{ text: "" }, { text: textOf("one") }, { text: textOf("one", "license: MIT\n") }],
			onInvalid: (error) => codes.push((error as unknown as { code: string }).code),
		});
		expect(loaded).toMatchObject([{ name: "one" }]);
		expect(loaded[0]?.license).toBeUndefined();
		expect(codes).toEqual(["skill_source_missing", "skill_invalid", "skill_duplicate"]);
	});

	test("never reads outside of a skill's folder, through any path", async () => {
		const folder = folderWith({
			"skills/one/SKILL.md": textOf("one"),
			"skills/one/in/a.md": "inside",
			"secret.txt": "secret",
		});
		const [skill] = await loadSkills({ folders: [join(folder, "skills")] });
		const part = fc.constantFrom(
			"..",
			".",
			"in",
			"a.md",
			"",
			"secret.txt",
			"SKILL.md",
			"\0",
			"C:",
			"\\",
			"~",
		);
		await fc.assert(
			fc.asyncProperty(
				fc.array(part, { minLength: 1, maxLength: 6 }),
				fc.boolean(),
				async (parts, absolute) => {
					const path = absolute ? join(folder, ...parts) : parts.join("/");
					const read = await skill?.readFile(path).then(
						(bytes) => new TextDecoder().decode(bytes),
						({ code }) => code,
					);
					expect(["inside", textOf("one"), "skill_path_outside", "skill_file_not_found"]).toContain(read);
				},
			),
			{ numRuns: 500 },
		);
		// A link that appears after the skill was loaded.
		symlinkSync(join(folder, "secret.txt"), join(folder, "skills/one/later.txt"));
		symlinkSync(folder, join(folder, "skills/one/up"));
		expect(await codeOf(skill?.readFile("later.txt") as Promise<unknown>)).toBe("skill_path_outside");
		expect(await codeOf(skill?.readFile("up/secret.txt") as Promise<unknown>)).toBe("skill_path_outside");
	});
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSkill } from "./parse-skill.ts";

const skill = (fields: string, body = "Do it.\n"): string => `---\n${fields}\n---\n${body}`;
const named = (more: string): string => skill(`name: tidy\ndescription: Tidies.\n${more}`);

describe("parseSkill", () => {
	test("reads all fields of the format as strings", () => {
		const text = named(
			"license: MIT\ncompatibility: Needs git.\nmetadata:\n  version: 1.0\n  author: ann\nallowed-tools: Bash(git diff:*) Read",
		);
		expect(parseSkill(text, { folder: "tidy" })).toEqual({
			name: "tidy",
			description: "Tidies.",
			license: "MIT",
			compatibility: "Needs git.",
			metadata: { version: "1.0", author: "ann" },
			allowedTools: ["Bash(git diff:*)", "Read"],
			body: "Do it.\n",
		});
	});

	test("reads the same skill with a byte order mark and with Windows line ends", () => {
		const plain = named("license: MIT");
		expect(parseSkill(`\uFEFF${plain.replaceAll("\n", "\r\n")}`)).toEqual(parseSkill(plain));
	});

	test.each([
		["no front matter", "# Tidy", "skill_invalid", undefined],
		["front matter without an end", "---\nname: tidy\n", "skill_invalid", undefined],
		["front matter that is a list", "---\n- tidy\n---\n", "skill_invalid", undefined],
		["no name", skill("description: Tidies."), "skill_invalid", "name"],
		["no description", skill("name: tidy"), "skill_invalid", "description"],
		["an empty description", skill("name: tidy\ndescription: ''"), "skill_invalid", "description"],
		[
			"a description over the limit",
			skill(`name: tidy\ndescription: ${"x".repeat(1_025)}`),
			"skill_invalid",
			"description",
		],
		["a field named twice", named("name: tidy"), "skill_invalid", undefined],
		["an unknown field", named("version: 2"), "skill_invalid", "version"],
		["an unquoted colon", skill("name: tidy\ndescription: Use when: always"), "skill_invalid", undefined],
		["an alias", skill("name: tidy\ndescription: &a Tidies.\nlicense: *a"), "skill_invalid", "license"],
		["nested metadata", named("metadata:\n  a:\n    b: c"), "skill_invalid", "metadata.a"],
		["metadata that is text", named("metadata: some"), "skill_invalid", "metadata"],
		["a list of tools", named("allowed-tools: [Read]"), "skill_invalid", "allowed-tools"],
		["a name in capitals", skill("name: Tidy\ndescription: Tidies."), "skill_name_invalid", undefined],
		[
			"a name with a hyphen at its end",
			skill("name: tidy-\ndescription: Tidies."),
			"skill_name_invalid",
			undefined,
		],
		[
			"a name over the limit",
			skill(`name: ${"a".repeat(65)}\ndescription: T.`),
			"skill_name_invalid",
			undefined,
		],
	])("rejects %s", (_, text, code, field) => {
		expect(() => parseSkill(text)).toThrow(
			expect.objectContaining({ code, ...(field && { data: expect.objectContaining({ field }) }) }),
		);
	});

	test("rejects a name that differs from its folder's, and a body over the limit", () => {
		expect(() => parseSkill(named(""), { folder: "other" })).toThrow(
			expect.objectContaining({ code: "skill_name_invalid" }),
		);
		expect(() => parseSkill(named(""), { maxBodyCharacters: 3 })).toThrow(
			expect.objectContaining({ code: "skill_too_large", data: { skill: "tidy", size: 7, limit: 3 } }),
		);
	});

	test("keeps a name that differs from its folder's, and quotes texts of one line, with `lenient`", () => {
		const read = (fields: string): unknown =>
			parseSkill(skill(fields), { folder: "other", format: "lenient" }).description;
		expect(read("name: tidy\ndescription: Use it when: a folder's full. # kept")).toBe(
			"Use it when: a folder's full. # kept",
		);
		expect(read("name: tidy\ndescription: @State: it\nmetadata:\n  a: b")).toBe("@State: it");
		for (const fields of ["name: tidy\ndescription: a: b\n  more: c", "name: tidy\ndescription: [a"])
			expect(() => read(fields)).toThrow(expect.objectContaining({ code: "skill_invalid" }));
	});

	test("reads the additions of other programs with `lenient`", () => {
		const text = named("version: 2\nmetadata:\n  a:\n    b: c\nallowed-tools:\n  - Read\n  - Bash(git:*)");
		expect(parseSkill(text, { format: "lenient" })).toMatchObject({
			metadata: { a: '{"b":"c"}' },
			allowedTools: ["Read", "Bash(git:*)"],
		});
	});

	test("reads any text, or rejects it with a code", () => {
		const line = fc.oneof(
			fc.constantFrom(
				"---",
				"name: tidy",
				"description: Tidies.",
				"metadata:",
				"  a: &b 1",
				"  - *b",
				"? x",
				"\uFEFF",
			),
			fc.string(),
		);
		fc.assert(
			fc.property(fc.array(line), (lines) => {
				try {
					parseSkill(lines.join("\n"));
				} catch (error) {
					expect(error).toMatchObject({ code: expect.stringMatching(/^skill_/) });
				}
			}),
			{ numRuns: 2_000 },
		);
	});

	test("rejects nested aliases at once", () => {
		const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghij"].map((each, at) => `${each}: &${each} [${Array(9).fill(`*${"abcdefghij"[at]}`).join(",")}]`).join("\n")}`;
		expect(() =>
			parseSkill(skill(`name: tidy\ndescription: Tidies.\n${bomb}`), { format: "lenient" }),
		).toThrow(expect.objectContaining({ code: "skill_invalid" }));
	});
});

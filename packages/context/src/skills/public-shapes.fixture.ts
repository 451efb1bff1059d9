// Texts in the shapes that public skills have: what authors write into front matter, and how their editors save it.

/** A skill in a shape, and whether the format itself allows it. */
export interface ShapedSkill {
	readonly name: string;
	readonly text: string;
	/** `strict`: in the format. `lenient`: with what other programs add. */
	readonly reads: "strict" | "lenient";
}

const description = "Extracts text from documents. Use it when the user mentions forms.";

const frontMatter: readonly (readonly [reads: ShapedSkill["reads"], fields: string])[] = [
	["strict", `description: ${description}`],
	["strict", `description: "Quoted: with a colon, a # and an emoji 🎉."`],
	["strict", `description: 'It''s quoted once.'`],
	["strict", `description: >\n  Folded over\n  two lines.`],
	["strict", `description: |\n  Kept in\n  two lines.`],
	["strict", `description: >-\n  ${description}`],
	["strict", `description: Beschreibt Größen, 日本語 und العربية.`],
	["strict", `description: ${"long words ".repeat(93).trim()}`],
	["strict", `description: ${description}\nlicense: MIT`],
	["strict", `description: ${description}\nlicense: Complete terms in LICENSE.txt`],
	["strict", `description: ${description}\ncompatibility: Requires git, docker and access to the internet`],
	["strict", `description: ${description}\nmetadata:\n  author: example-org\n  version: "1.0"`],
	["strict", `description: ${description}\nmetadata:\n  version: 1.0\n  stable: true\n  updated: 2026-01-01`],
	["strict", `description: ${description}\nmetadata: {author: ann, tags: "a, b"}`],
	["strict", `description: ${description}\nmetadata: {}`],
	["strict", `description: ${description}\nallowed-tools: Read`],
	["strict", `description: ${description}\nallowed-tools: Bash(git:*) Bash(jq:*) Read`],
	["strict", `description: ${description}\nallowed-tools: Read, Grep, Glob`],
	["strict", `description: ${description}\nallowed-tools: "Bash(npm run test:*) Edit(src/**)"`],
	["strict", `description: ${description} # a comment`],
	["strict", `# a comment first\ndescription: ${description}`],
	["strict", `description:    ${description}   `],
	["strict", `"description": ${description}`],
	["lenient", `description: ${description}\nversion: 1.2.0`],
	["lenient", `description: Reads forms: all of them, it's said. # kept`],
	["lenient", `description: @State, and what depends on it\nlicense: MIT`],
	["lenient", `description: ${description}\nauthor: Ann <ann@example.com>`],
	["lenient", `description: ${description}\nmodel: opus\ncontext: fork`],
	["lenient", `description: ${description}\ntags: [pdf, forms]`],
	["lenient", `description: ${description}\nallowed-tools:\n  - Read\n  - Bash(git:*)`],
	["lenient", `description: ${description}\nallowed-tools: [Read, Write]`],
	[
		"lenient",
		`description: ${description}\nmetadata:\n  other:\n    requires:\n      bins: [gh]\n    emoji: "🐙"`,
	],
	["lenient", `description: ${description}\nmetadata: {"one": {"two": ["three"]}}`],
	["lenient", `description: ${description}\nuser-invocable: true\nargument-hint: "[file]"`],
	["lenient", `description: ${description}\nhooks:\n  PreToolUse:\n    - matcher: Bash`],
	["lenient", `description: ${description}\nwhen_to_use: for forms\ndisable-model-invocation: false`],
];

const bodies: readonly string[] = [
	"# Title\n\nSteps:\n1. One\n2. Two\n",
	"",
	"Text with --- inside\n\n---\n\nand a rule above.\n",
	"```bash\npython scripts/run.py --flag\n```\n\nSee [the reference](references/REFERENCE.md).\n",
	"Line\u2028separators and a tab\t.\n",
];

const saved: readonly ((text: string) => string)[] = [
	(text) => text,
	(text) => text.replaceAll("\n", "\r\n"),
	(text) => `\uFEFF${text}`,
	(text) => `\uFEFF${text.replaceAll("\n", "\r\n")}`,
	(text) => text.replace(/\n$/, ""),
	(text) => text.replaceAll("---\n", "---  \n"),
];

/** Each front matter with a body and an encoding of its own, and each body and encoding at least once. */
export const shapedSkills: readonly ShapedSkill[] = [
	...frontMatter.map(([reads, fields], at) => ({
		reads,
		fields,
		body: at % bodies.length,
		as: at % saved.length,
	})),
	...bodies.flatMap((_, body) =>
		saved.map((_, as) => ({ reads: "strict" as const, fields: `description: ${description}`, body, as })),
	),
].map(({ reads, fields, body, as }, at) => {
	const name = `shape-${at + 1}`;
	const text = `---\nname: ${name}\n${fields}\n---\n${bodies[body]}`;
	return { name, reads, text: (saved[as] as (text: string) => string)(text) };
});

// Templates that want to cost much: every one ends soon, with a result or a code.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PromptEngine } from "../contract/index.ts";
import { memoryPromptStore } from "./index.ts";

const engines: PromptEngine[] = ["handlebars", "liquid", "mustache", "fstring"];
const codes = ["PROMPT_INVALID", "PROMPT_LIMIT", "PROMPT_RENDER_FAILED"];
/** Processor time that one text may take, with room for slow machines. */
const maximalMs = 3_000;

/** The text that was rendered, or the code. */
async function tried(engine: PromptEngine, text: string, params: Record<string, unknown> = {}) {
	const store = memoryPromptStore();
	const before = process.cpuUsage();
	try {
		await store.put({ id: "a", text, engine });
		return (await store.render("a", params)).text;
	} catch (error) {
		const { code } = error as { code: string };
		expect(codes).toContain(code);
		return code;
	} finally {
		const { user, system } = process.cpuUsage(before);
		expect((user + system) / 1_000).toBeLessThan(maximalMs);
	}
}

const big = { list: Array.from({ length: 1_000 }, (_, index) => index), text: "x".repeat(100_000) };

test.each<[string, PromptEngine, string]>([
	["loops in loops", "handlebars", "{{#each list}}{{#each @root.list}}x{{/each}}{{/each}}"],
	["loops in loops", "mustache", "{{#list}}{{#list}}x{{/list}}{{/list}}"],
	["loops in loops", "liquid", "{% for a in list %}{% for b in list %}{% endfor %}{% endfor %}"],
	["a huge range", "liquid", "{% for i in (1..100000000000) %}{% endfor %}"],
	["ranges in ranges", "liquid", `${"{% for i in (1..100) %}".repeat(20)}${"{% endfor %}".repeat(20)}`],
	["a text written often", "handlebars", "{{text}}".repeat(100)],
	["a text written often", "mustache", "{{text}}".repeat(100)],
	["a text written often", "fstring", "{text}".repeat(100)],
	["a text written often", "liquid", "{{ text }}".repeat(100)],
	["a text masked often", "handlebars", "{{#if (redact text)}}{{/if}}".repeat(100)],
	["a text masked often", "liquid", "{% assign a = text | redact | size %}".repeat(100)],
	["a text doubled", "liquid", "{% assign text = text | append: text %}".repeat(50)],
	["a capture doubled", "liquid", "{% capture text %}{{ text }}{{ text }}{% endcapture %}".repeat(50)],
	[
		"a list that holds itself twice",
		"liquid",
		`${"{% assign list = list | push: list %}".repeat(60)}{{ list }}`,
	],
	[
		"a list of lists doubled",
		"liquid",
		`${'{% assign g = list | group_by: "k" | map: "items" %}{% assign list = g | concat: g %}'.repeat(40)}{{ list | append: "" }}`,
	],
	["padding", "liquid", '{{ "now" | date: "%999999999d" }}'],
])("%s in %s ends with PROMPT_LIMIT", async (_, engine, text) => {
	expect(await tried(engine, text, big)).toBe("PROMPT_LIMIT");
});

test("a text of a megabyte is invalid, and circular or too many parameters end with PROMPT_LIMIT", async () => {
	const circle: Record<string, unknown> = {};
	circle.circle = [circle];
	for (const engine of engines) {
		expect(await tried(engine, "{".repeat(1_000_000))).toBe("PROMPT_INVALID");
		expect(await tried(engine, "x", circle)).toBe("PROMPT_LIMIT");
		expect(await tried(engine, "x", { list: Array.from({ length: 300_000 }, () => 0) })).toBe("PROMPT_LIMIT");
	}
});

test.each<[PromptEngine, (depth: number) => string]>([
	["handlebars", (depth) => `${"{{#if a}}".repeat(depth)}x${"{{/if}}".repeat(depth)}`],
	["handlebars", (depth) => `{{#if b}}${"{{else if a}}x".repeat(depth - 1)}{{/if}}`],
	["mustache", (depth) => `${"{{#a}}".repeat(depth)}x${"{{/a}}".repeat(depth)}`],
	["liquid", (depth) => `${"{% if a %}".repeat(depth)}x${"{% endif %}".repeat(depth)}`],
])("blocks in %s can be nested 50 levels deep, and no deeper", async (engine, nested) => {
	expect(await tried(engine, nested(50), { a: true })).toBe("x");
	for (const depth of [51, 400, 3_000])
		expect(await tried(engine, nested(depth), { a: true })).toBe("PROMPT_INVALID");
});

const fragments = [
	"{",
	"}",
	"{{",
	"}}",
	"{{{",
	"{{a}}",
	"{{#a}}",
	"{{/a}}",
	"{{^a}}",
	"{{else}}",
	"{{#each a}}",
	"{{/each}}",
	"{{#if a}}",
	"{{/if}}",
	"{{!",
	"{{!--",
	"{{{{raw}}}}",
	"{{a.",
	"{{(",
	"{{ a | ",
	"{{=<% %>=}}",
	"\\{{",
	"~",
	"{%",
	"%}",
	"{% if a %}",
	"{% endif %}",
	"{% for b in a %}",
	"{% endfor %}",
	"{% raw %}",
	"{% comment %}",
	"{% assign a = a | append: a %}",
	"{{ a | upcase }}",
	"{% liquid\n",
	"{a}",
	"{a!redact}",
	" ",
	"\n",
	'"',
	"é",
	"\u{1f600}",
	"\0",
	"constructor",
	"__proto__",
];

describe.each(engines)("in %s", (engine) => {
	test("any text is valid and rendered, or has a code, within limits", async () => {
		const texts = fc.oneof(
			fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => parts.join("")),
			fc.string({ maxLength: 200, unit: "binary" }),
		);
		await fc.assert(
			fc.asyncProperty(texts, async (text) => {
				const store = memoryPromptStore();
				const { ok, errors } = await store.validate(text, engine);
				const came = await tried(engine, text, { a: [1, { a: "x" }], b: "y" });
				expect(came === "PROMPT_INVALID").toBe(!ok);
				for (const problem of errors ?? []) expect(problem).toMatch(/^line \d+, column \d+: ./);
			}),
			{ numRuns: 300 },
		);
	});

	test("any fragment repeated many times costs no more than linear time", async () => {
		for (const fragment of fragments)
			for (const head of ["", "{{"])
				await tried(engine, (head + fragment.repeat(30_000 / fragment.length)).slice(0, 30_000), {
					a: "x",
				});
	}, 120_000);

	test("no parameters of any shape are called or read outside the data", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.dictionary(fc.constantFrom("a", "b", "__proto__", "toString"), fc.anything()),
				async (params) => {
					await tried(engine, engine === "fstring" ? "{a}{b.a}{a.0!redact}" : "{{a}}{{b.a}}", params);
				},
			),
			{ numRuns: 200 },
		);
	});
});

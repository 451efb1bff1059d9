// What each engine renders, what it refuses, and what it can never reach.
import type { Redactor } from "@holdfast/redaction";
import { describe, expect, test, vi } from "vitest";
import type { PromptEngine } from "../contract/index.ts";
import { databasePromptStore, memoryPromptStore } from "./index.ts";

const redactor: Redactor = {
	redact: (value) => JSON.parse(JSON.stringify(value).replaceAll(/\w+@[\w.]+/g, "[REDACTED:email]")),
	maskSecrets: (value) => value,
	stream: () => ({ push: (text) => text, flush: () => "" }),
};

async function rendered(engine: PromptEngine, text: string, params: Record<string, unknown> = {}) {
	const store = memoryPromptStore({ redactor });
	await store.put({ id: "a", text, engine });
	return (await store.render("a", params)).text;
}

const problems = async (text: string, engine?: PromptEngine) =>
	(await memoryPromptStore().validate(text, engine)).errors;

describe("handlebars", () => {
	const render = (text: string, params?: Record<string, unknown>) => rendered("handlebars", text, params);

	test("is the default, and renders variables, conditions, lists and dotted paths, without escaping [RUN-109]", async () => {
		const store = memoryPromptStore();
		await store.put({ id: "a", text: "{{#if x}}{{a.b}}{{/if}} {{x}} {{{x}}}" });
		expect((await store.render("a", { a: { b: 1 }, x: `<b> & "'` })).text).toBe(`1 <b> & "' <b> & "'`);
		const choice = "{{#if a}}A{{else if b}}B{{else}}C{{/if}}{{#unless a}}U{{/unless}}";
		expect([
			await render(choice, { a: 1 }),
			await render(choice, { b: 1 }),
			await render(choice, { a: [] }),
		]).toEqual(["A", "BU", "CU"]);
		const list = "{{#each items}}{{@index}}{{#if @first}}!{{/if}}{{name}}{{../sep}}{{else}}none{{/each}}";
		expect(await render(list, { items: [{ name: "a" }, { name: "b" }], sep: ";" })).toBe("0!a;1b;");
		expect(await render(list, { items: [] })).toBe("none");
		expect(await render("{{#each o as |v k|}}{{k}}={{v}},{{/each}}", { o: { x: 1, y: 2 } })).toBe("x=1,y=2,");
		expect(
			await render("{{#with a}}{{b}}{{@root.c}}{{/with}}{{lookup l 1}}", { a: { b: 1 }, c: 2, l: [3, 4] }),
		).toBe("124");
		expect(await render("{{#a}}{{b}}{{/a}}{{^c}}none{{/c}}{{! note }}", { a: [{ b: 1 }, { b: 2 }] })).toBe(
			"12none",
		);
		expect(await render("{{#if z includeZero=true}}zero{{/if}}{{#if z}}no{{/if}}", { z: 0 })).toBe("zero");
		expect(await render("a  {{~x~}}  b \\{{x}}", { x: 1 })).toBe("a1b {{x}}");
	});
});

test("liquid renders tags, conditions, loops and filters; an unknown filter is invalid [RUN-110]", async () => {
	const render = (text: string, params?: Record<string, unknown>) => rendered("liquid", text, params);
	const choice = "{% if n == 1 %}one{% elsif n == 2 %}two{% else %}many{% endif %}";
	expect([
		await render(choice, { n: 1 }),
		await render(choice, { n: 2 }),
		await render(choice, { n: 3 }),
	]).toEqual(["one", "two", "many"]);
	expect(
		await render("{% for i in list %}{{ forloop.index }}{{ i.n }},{% endfor %}", {
			list: [{ n: "a" }, { n: "b" }],
		}),
	).toBe("1a,2b,");
	expect(await render('{{ name | default: "you" }} {{ up | upcase }} {{ h }}', { up: "x", h: "<b>" })).toBe(
		"you X <b>",
	);
	expect(await problems("a\n {{ x | nope }}", "liquid")).toEqual(['line 2, column 2: unknown filter "nope"']);
});

test("mustache renders variables, sections and comments without escaping; an unclosed section is invalid [RUN-111]", async () => {
	const render = (text: string, params?: Record<string, unknown>) => rendered("mustache", text, params);
	expect(await render("{{x}} {{{x}}} {{&x}} {{a.b}}", { x: "<b>", a: { b: 0 } })).toBe("<b> <b> <b> 0");
	expect(await render("{{#l}}{{n}}{{o}},{{/l}}", { l: [{ n: 1 }, { n: 2 }], o: "x" })).toBe("1x,2x,");
	expect(
		await render("{{#l}}{{.}}{{/l}}{{#t}}T{{/t}}{{#f}}F{{/f}}", { l: ["a", "b"], t: true, f: false }),
	).toBe("abT");
	expect(await render("{{^l}}none{{/l}}{{^t}}no{{/t}}{{! a note }}", { l: [], t: 1 })).toBe("none");
	expect(await problems("a\n{{#l}}x", "mustache")).toEqual(['line 2, column 1: unclosed block "l"']);
});

test("fstring replaces names, keeps doubled braces as braces, and evaluates nothing [RUN-112]", async () => {
	const render = (text: string, params?: Record<string, unknown>) => rendered("fstring", text, params);
	expect(await render("{x} {a.b} {l.1} {{x}} {{{x}}}", { x: "X", a: { b: 1 }, l: [1, 2] })).toBe(
		"X 1 2 {x} {X}",
	);
	expect(await render("{1+1} {x()} {x[0]} {} {x:>5}", { x: "X" })).toBe("{1+1} {x()} {x[0]} {} {x:>5}");
	expect(await problems("a\n b {x", "fstring")).toEqual([
		expect.stringContaining('line 2, column 4: unclosed "{"'),
	]);
});

test("errors have a location and a description, and validating never throws [RUN-107]", async () => {
	const store = memoryPromptStore();
	expect(await store.validate("{{x}}")).toEqual({ ok: true });
	const cases: [PromptEngine, string, RegExp][] = [
		["handlebars", "a\n {{#if x}}", /^line 2, column 2: unclosed block "if"/],
		["handlebars", "a\n  {{x", /^line 2, column 3: unclosed tag/],
		["handlebars", "{{#if x}}{{/each}}", /^line 1, column 1: unclosed block "if"/],
		["handlebars", "a {{shout x}}", /^line 1, column 3: unknown helper "shout"/],
		["handlebars", "{{#if (eq a b)}}{{/if}}", /^line 1, column 7: unknown helper "eq"/],
		["handlebars", "{{x | y}}", /^line 1, column \d+: unexpected/],
		["handlebars", "{{redact}}", /one value/],
		["liquid", "a\n{% if x %}", /^line 2, column 1: .*not closed/],
		["liquid", "a {{ x", /^line 1, column 3: .*not closed/],
		["liquid", "{% shout x %}", /^line 1, column 1: .*shout/],
		["mustache", "a {{x", /^line 1, column 3: unclosed tag/],
		["mustache", "{{/x}}", /^line 1, column 1: "x" is closed/],
		["mustache", "{{shout x}}", /^line 1, column 1: unknown helper "shout"/],
		["fstring", "a {x", /^line 1, column 3: unclosed "{"/],
		["fstring", "{x!shout}", /^line 1, column 1: unknown helper "shout"/],
	];
	for (const [engine, text, problem] of cases) {
		const { ok, errors } = await store.validate(text, engine);
		expect([engine, text, ok, errors?.[0]]).toEqual([engine, text, false, expect.stringMatching(problem)]);
	}
	for (const wrong of [undefined, null, 1, {}, { type: "Program", body: [] }])
		expect(await store.validate(wrong as never)).toMatchObject({ ok: false, errors: [expect.any(String)] });
	expect(await store.validate("x", "jinja" as never)).toMatchObject({ ok: false });
});

test("every engine masks the requested values [RUN-116]", async () => {
	const x = "mail ada@example.org now";
	const masked = "mail [REDACTED:email] now";
	expect(await rendered("handlebars", "{{redact x}}{{#if (redact x)}}!{{/if}}|{{x}}", { x })).toBe(
		`${masked}!|${x}`,
	);
	expect(await rendered("liquid", "{{ x | redact }}|{{ x }}", { x })).toBe(`${masked}|${x}`);
	expect(await rendered("mustache", "{{#redact}}{{x}}{{/redact}}|{{x}}", { x })).toBe(`${masked}|${x}`);
	expect(await rendered("fstring", "{x!redact}|{x}", { x })).toBe(`${masked}|${x}`);
	expect(await rendered("handlebars", "{{redact x}}", { x: { to: ["a@b.org", 1] } })).toBe(
		'{"to":["[REDACTED:email]",1]}',
	);
	const usual = memoryPromptStore();
	await usual.put({ id: "a", text: "{{redact x}}" });
	const given = `to ada@example.org, with sk-${"aB3dE5fG7hJ9".repeat(3)}`;
	expect((await usual.render("a", { x: given })).text).toBe("to [REDACTED:email], with [REDACTED:api-key]");
});

const engines: PromptEngine[] = ["handlebars", "liquid", "mustache", "fstring"];

describe.each(engines)("in %s", (engine) => {
	const tag = (name: string): string => (engine === "fstring" ? `{${name}}` : `{{${name}}}`);

	test("`constructor`, `__proto__` and inherited names are missing [RUN-117]", async () => {
		class Parent {
			get secret(): string {
				return "leak";
			}
		}
		const params = {
			list: [1],
			text: "t",
			parent: new Parent(),
			made: Object.create({ inherited: "leak" }),
			own: JSON.parse('{"__proto__": "leak", "constructor": "leak"}'),
		};
		const names = ["constructor", "__proto__", "toString", "hasOwnProperty"];
		for (const holder of ["list", "text", "parent", "own"])
			names.push(
				`${holder}.constructor`,
				`${holder}.__proto__`,
				`${holder}.constructor.name`,
				`${holder}.toString`,
			);
		names.push("parent.secret", "made.inherited", "list.map", "text.trim");
		const store = memoryPromptStore();
		await store.put({ id: "a", text: names.map(tag).join(""), engine });
		const { text, meta } = await store.render("a", params);
		expect(text).toBe("");
		expect([...(meta?.missing ?? [])].sort()).toEqual([...names].sort());
	});

	test("functions in parameters are never called, and count as missing [RUN-117]", async () => {
		const called = vi.fn(() => "called");
		const trap = Object.defineProperty({}, "got", { get: called, enumerable: true });
		const params = {
			f: called,
			o: { f: called, toString: called, toJSON: called, valueOf: called, toLiquid: called },
			l: [called, 1],
			trap,
			s: { [Symbol.toPrimitive]: called, [Symbol.iterator]: called },
		};
		const names = ["f", "o.f", "o", "l", "trap.got", "s"];
		const sections: Record<string, string> = {
			handlebars: "{{#f}}x{{/f}}{{#if o.f}}y{{/if}}{{#each o}}{{this}}{{/each}}{{redact o}}",
			mustache: "{{#f}}x{{/f}}{{#o}}{{f}}{{/o}}{{#l}}{{.}}{{/l}}",
			liquid: "{% for x in o %}{{x}}{% endfor %}{% if f %}x{% endif %}{{ o | json }}{{ l | join: ',' }}",
		};
		const text = await rendered(engine, names.map(tag).join(",") + (sections[engine] ?? ""), params);
		expect(called).not.toHaveBeenCalled();
		expect(text).not.toContain("called");
		expect(text).toContain(",{},[null,1],,{}");
	});
});

test("`constructor` and `__proto__` are not among the fields of a loop [RUN-117]", async () => {
	const own = JSON.parse('{"__proto__": 1, "constructor": 2, "x": 3}');
	expect(await rendered("handlebars", "{{#each own}}{{@key}}{{this}}{{/each}}", { own })).toBe("x3");
	expect(await rendered("liquid", "{% for p in own %}{{ p[0] }}{{ p[1] }}{% endfor %}", { own })).toBe("x3");
});

test("partials, includes and layouts are invalid, and no engine opens a file [RUN-118]", async () => {
	const file = import.meta.filename;
	const cases: [PromptEngine, string][] = [
		["handlebars", "{{> part}}"],
		["handlebars", `{{> "${file}"}}`],
		["handlebars", "{{#> layout}}x{{/layout}}"],
		["handlebars", '{{#*inline "x"}}y{{/inline}}'],
		["handlebars", "{{* decorator}}"],
		["mustache", "{{> part}}"],
		["mustache", `{{>${file}}}`],
		["liquid", `{% include "${file}" %}`],
		["liquid", `{% render "${file}" %}`],
		["liquid", `{%- layout "${file}" -%}`],
		["liquid", "{% block a %}{% endblock %}"],
		["liquid", `{% liquid\ninclude "${file}" %}`],
	];
	for (const [engine, text] of cases)
		expect([text, await problems(text, engine)]).toEqual([
			text,
			[expect.stringMatching(/^line \d+, column \d+: /)],
		]);
	// What came into a database by another way is not rendered either.
	for (const [engine, text] of cases) {
		const template = { id: "a", version: "1", engine, text };
		const read = async (_: string, key: string) => (key === "version:1:a" ? { template } : null);
		const database = { read, write: async () => {}, query: async () => [] };
		await expect(databasePromptStore(database).render("a")).rejects.toMatchObject({ code: "PROMPT_INVALID" });
	}
});

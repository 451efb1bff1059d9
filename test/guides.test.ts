// The form of the guides and migration pages: a title, the problem, an example near the top, and at the end the limits and
// links. The recipes have a test of their own.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const docs = join(import.meta.dirname, "../docs");
const pages = ["guide", "migrate"].flatMap((folder) =>
	readdirSync(join(docs, folder)).map((page) => `${folder}/${page}`),
);

interface Form {
	readonly title: string;
	readonly introduction: string;
	/** Headings of sections before the first example. */
	readonly headingsBeforeExample: number;
	/** The sections in order, each with its text. */
	readonly sections: readonly { readonly heading: string; readonly text: string }[];
}

function formOf(markdown: string): Form {
	const text = markdown.replaceAll(/<!--[\s\S]*?-->/g, "");
	const exampleAt = text.search(/^```/m);
	const beforeExample = exampleAt < 0 ? text : text.slice(0, exampleAt);
	const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
	const [head = "", ...sections] = prose.split(/^## /m);
	const [title = "", introduction = ""] = head.split("\n\n");
	return {
		title,
		introduction: introduction.replaceAll("\n", " ").trim(),
		headingsBeforeExample:
			exampleAt < 0 ? Number.POSITIVE_INFINITY : (beforeExample.match(/^## /gm) ?? []).length,
		sections: sections.map((section) => {
			const [heading = "", ...lines] = section.split("\n");
			return { heading, text: lines.join("\n").trim() };
		}),
	};
}

const sentencesIn = (paragraph: string): number => paragraph.split(/(?<=[.!?])\s+(?=[A-Z`*[])/).length;

describe.each(pages)("the page %s", (page) => {
	const form = formOf(readFileSync(join(docs, page), "utf8"));

	test("has a short title, and introduces its subject in at most three sentences", () => {
		expect(form.title).toMatch(/^# \S.{2,60}$/);
		expect(form.introduction).toMatch(/^[A-Z`@].*[.:]$/);
		expect([form.introduction, sentencesIn(form.introduction) <= 3]).toEqual([form.introduction, true]);
	});

	test("shows an example before its second section", () => {
		expect(form.headingsBeforeExample).toBeLessThanOrEqual(1);
	});

	test("ends with its limits and with links to other pages", () => {
		const [limits, links] = form.sections.slice(-2);
		expect([limits?.heading, links?.heading]).toEqual(["Limits", "See also"]);
		expect(limits?.text).not.toBe("");
		expect(links?.text).toMatch(/^- .*\]\([^)]+\.md/);
	});
});

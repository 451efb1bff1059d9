// The diagrams of the guides: made by a script, and readable for those who do not see them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { diagrams } from "../tools/images/diagrams.ts";
import { listFiles } from "../tools/list-sources.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs/images");

test("every diagram in docs/images is what npm run images writes", () => {
	const files = readdirSync(folder).filter((name) => name.endsWith(".svg"));
	expect(files.sort()).toEqual([...diagrams.keys()].map((name) => `${name}.svg`).sort());
	const changed = files.filter(
		(name) => readFileSync(join(folder, name), "utf8") !== diagrams.get(name.replace(".svg", "")),
	);
	expect(changed).toEqual([]);
});

test("every image in a paper is there and has a text for those who do not see it", () => {
	const images = listFiles(root, ".md").flatMap((paper) =>
		[...readFileSync(join(root, paper), "utf8").matchAll(/<img\s[^>]*>/g)].map(([tag]) => {
			const source = /src="([^"]+)"/.exec(tag)?.[1] ?? "";
			const text = /alt="([^"]*)"/.exec(tag)?.[1] ?? "";
			return { paper, source, text };
		}),
	);
	expect(images.length).toBeGreaterThanOrEqual(diagrams.size);
	for (const { paper, source, text } of images) {
		expect([paper, source, existsSync(join(root, dirname(paper), source))]).toEqual([paper, source, true]);
		expect([paper, source, text.length > 40]).toEqual([paper, source, true]);
	}
	const shown = new Set(images.map(({ source }) => source.replace(/^.*\/(.*)\.svg$/, "$1")));
	expect([...diagrams.keys()].filter((name) => !shown.has(name))).toEqual([]);
});

test("no text of a diagram is cut off at its right edge", () => {
	for (const [name, svg] of diagrams) {
		const texts = svg.matchAll(
			/<text x="(?<x>[\d.]+)" y="[\d.]+" class="(?<classes>[^"]*)"(?<rest>[^>]*)>(?<text>[^<]*)</g,
		);
		for (const { groups } of texts) {
			const wide = groups?.classes?.includes("mono") ? 6.9 : groups?.classes?.includes("small") ? 6 : 7;
			const length = (groups?.text ?? "").replaceAll(/&\w+;/g, "x").length * wide;
			const x = Number(groups?.x);
			const left = groups?.rest?.includes("middle")
				? x - length / 2
				: groups?.rest?.includes("end")
					? x - length
					: x;
			expect([name, groups?.text, left >= 0 && left + length <= 362]).toEqual([name, groups?.text, true]);
		}
	}
});

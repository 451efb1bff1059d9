// The pictures of the guides: a script makes them, and each has a text for readers who do not see them.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { diagrams } from "../tools/images/diagrams.ts";
import { film } from "../tools/images/film.ts";
import { recorded } from "../tools/images/recorded.ts";
import { listFiles } from "../tools/list-sources.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs/images");

test("npm run images writes every picture in docs/images, and its diagrams are up to date", () => {
	const files = readdirSync(folder);
	const made = [...diagrams.keys()].map((name) => `${name}.svg`);
	expect(files.sort()).toEqual([...made, ...recorded].sort());
	const changed = made.filter(
		(name) => readFileSync(join(folder, name), "utf8") !== diagrams.get(name.replace(".svg", "")),
	);
	expect(changed).toEqual([]);
});

test("every image in Markdown exists and has a text alternative, and every picture is used", () => {
	const images = listFiles(root, ".md").flatMap((page) =>
		[...readFileSync(join(root, page), "utf8").matchAll(/<img\s[^>]*>/g)].map(([tag]) => {
			const source = /src="([^"]+)"/.exec(tag)?.[1] ?? "";
			const text = /alt="([^"]*)"/.exec(tag)?.[1] ?? "";
			return { page, source, text };
		}),
	);
	for (const { page, source, text } of images) {
		const path = join(root, dirname(page), source);
		expect([page, source, existsSync(path)]).toEqual([page, source, true]);
		expect([page, source, text.length > 40]).toEqual([page, source, true]);
	}
	const used = new Set(images.map(({ source }) => basename(source)));
	expect(readdirSync(folder).filter((name) => !used.has(name))).toEqual([]);
});

test("screenshots are large enough to read and have at most 150 KB", () => {
	for (const name of recorded.filter((each) => each.endsWith(".png"))) {
		const bytes = readFileSync(join(folder, name));
		// A PNG states its width and height after its first header.
		const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
		expect([name, width >= 1_200, height >= 700]).toEqual([name, true, true]);
		expect([name, statSync(join(folder, name)).size <= 150_000]).toEqual([name, true]);
	}
});

test("the recording of the chat has a title, dark colours and a last frame for readers without animations", () => {
	const svg = readFileSync(join(folder, "chat.svg"), "utf8");
	expect(svg).toMatch(/<title id="t">.+<\/title><desc id="d">.+<\/desc>/);
	expect(svg).toContain("prefers-color-scheme:dark");
	expect(svg).toContain("@media (prefers-reduced-motion:no-preference){g[style]{animation:");
	expect(svg.length).toBeLessThan(60_000);
	const lastFrame = [...svg.matchAll(/^<g(?: style="--k:k\d+")?>.*$/gm)].join("\n").replaceAll("\u00a0", " ");
	expect(lastFrame).toContain("$ holdfast chat --session 42");
	expect(lastFrame).toContain("Your receipt is R-A-7.");
	expect(lastFrame).not.toContain("no usage yet");
});

test("a film shows each line while it is on the screen, in the style that the previous line left", () => {
	const frames = [
		{ lines: ["\u001b[32mone", "two"], ms: 1_000 },
		{ lines: ["\u001b[32mone", "\u001b[39m<three>\u001b[7m"], ms: 3_000 },
	];
	const svg = film("A film", "Two frames.", frames, 2, 360);
	expect(svg).toContain("svg{--t:4s}");
	expect(svg).toMatch(/<g><text [^>]*class="mono green">one<\/text><\/g>/);
	expect(svg).toMatch(/<g style="--k:k0" class="off"><text [^>]*class="mono green">two</);
	expect(svg).toMatch(/<g style="--k:k1"><text [^>]*class="mono">&lt;three&gt;<\/text><rect /);
	expect(svg).toContain("@keyframes k0{0%{opacity:1}25%{opacity:0}}");
	expect(svg).toContain("@keyframes k1{0%{opacity:0}25%{opacity:1}}");
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

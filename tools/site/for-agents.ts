// The files for coding agents: the Markdown of each page next to it, `llms.txt` with the introduction of each page, and
// `llms-full.txt` with the text of all guides and recipes.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { outline } from "./outline.ts";
import type { SitePage } from "./pages.ts";

const base = process.env.DOCS_BASE ?? "/";

/** Writes these files into the built site. */
export function writeForAgents(dist: string, pages: readonly SitePage[], description: string): void {
	const write = (path: string, text: string): void => {
		mkdirSync(dirname(join(dist, path)), { recursive: true });
		writeFileSync(join(dist, path), text);
	};
	for (const page of pages) if (page.path !== "index.md") write(page.path, markdownOf(page));
	write("llms.txt", listOf(pages, description));
	write("llms-full.txt", fullOf(pages, description));
}

/** Returns a page without syntax that only the site supports. */
export function markdownOf({ plain }: SitePage): string {
	return plain
		.replace(/^---\n[\s\S]*?\n---\n/, "")
		.replaceAll(/ <Badge [^>]*text="(\w+)"[^>]*\/>(?: \{#[^}]+\})?/g, " ($1)")
		.replaceAll(" {#about-this-page}", "")
		.trimStart();
}

/** Returns the pages of the sidebar, by group. */
function groupsOf(
	pages: readonly SitePage[],
): readonly { readonly text: string; readonly pages: readonly SitePage[] }[] {
	const byPath = new Map(pages.map((page) => [page.path.replace(/\.md$/, ""), page]));
	const named = new Set(outline.flatMap((group) => group.pages));
	return outline.map(({ text, pages: first, rest }) => {
		const others = [...byPath.keys()].filter(
			(path) => rest !== undefined && path.startsWith(`${rest}/`) && !named.has(path),
		);
		const found = [...first, ...others.sort()].flatMap((path) => byPath.get(path) ?? []);
		return { text, pages: found };
	});
}

function listOf(pages: readonly SitePage[], description: string): string {
	const line = (page: SitePage): string => `- [${page.title}](${base}${page.path}): ${introductionOf(page)}`;
	const reference = pages.filter(({ path }) => /^api\/[^/]+\.md$/.test(path) && path !== "api/index.md");
	const sections = [...groupsOf(pages), { text: "Reference", pages: reference }].filter(
		(group) => group.pages.length > 0,
	);
	return [
		"# Holdfast",
		"",
		`> ${description}`,
		"",
		`The text of all guides and recipes is in [llms-full.txt](${base}llms-full.txt).`,
		"",
		...sections.flatMap((group) => [`## ${group.text}`, "", ...group.pages.map(line), ""]),
	].join("\n");
}

/** Returns the first paragraph of a page, as one line of at most three sentences. */
function introductionOf(page: SitePage): string {
	const [paragraph = ""] = markdownOf(page)
		.split("\n\n")
		.filter((each) => /^[A-Z*`[]/.test(each));
	const text = paragraph.replaceAll(/\s*\n\s*/g, " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
	return text
		.split(/(?<=[.?!])\s+(?=[A-Z`*])/)
		.slice(0, 3)
		.join(" ");
}

const inFull =
	/^(?:tutorial|which-call|deployment|design|glossary|errors(?:\/.*)?|packages|guide\/.*|cookbook\/.*)\.md$/;

function fullOf(pages: readonly SitePage[], description: string): string {
	const chosen = groupsOf(pages).flatMap((group) => group.pages.filter(({ path }) => inFull.test(path)));
	const texts = chosen.map((page) => `<!-- ${base}${page.path} -->\n\n${markdownOf(page).trimEnd()}\n`);
	return [`# Holdfast\n\n> ${description}\n`, ...texts].join("\n\n");
}

// `npm run docs`: builds the site into .site/dist, plain files that any server of files can serve. Works on what
// `npm run build` left in dist. A link that leads nowhere, to a page or to a heading, fails the build.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { build, type DefaultTheme, type UserConfig } from "vitepress";
import { listFiles } from "../list-sources.ts";
import type { Page } from "./api-pages.ts";
import { outline } from "./outline.ts";
import { collectPages, images } from "./pages.ts";

const root = join(import.meta.dirname, "../..");
const site = join(root, ".site");

type Item = DefaultTheme.SidebarItem;

const linkOf = (path: string): string => `/${path.replace(/\.md$/, "").replace(/(?:^|\/)index$/, "/")}`;

/** The sidebar of the guides: the groups of the outline, with the titles of the pages. */
function sidebarOf(pages: readonly Page[]): Item[] {
	const titles = new Map(pages.map(({ path, title }) => [path.replace(/\.md$/, ""), title]));
	const named = new Set(outline.flatMap((group) => group.pages));
	const missing = [...named].filter((page) => !titles.has(page));
	if (missing.length > 0) throw new Error(`tools/site/outline.ts names pages that are not there: ${missing}`);
	return outline.map(({ text, pages: first, rest, collapsed }) => {
		const others = [...titles.keys()]
			.filter((page) => rest !== undefined && page.startsWith(`${rest}/`) && !named.has(page))
			.sort();
		const items = [...first, ...others].map((page) => ({
			text: titles.get(page) ?? page,
			link: linkOf(page),
		}));
		return collapsed === undefined ? { text, items } : { text, items, collapsed };
	});
}

function configure(pages: readonly Page[]): UserConfig<DefaultTheme.Config> {
	const reference = pages.filter(({ path }) => path.startsWith("api/") && path !== "api/index.md");
	return {
		title: "Holdfast",
		description: "An agent runtime for TypeScript: durable sessions, without infrastructure.",
		lang: "en",
		base: process.env.DOCS_BASE ?? "/",
		srcDir: "src",
		outDir: "dist",
		ignoreDeadLinks: "localhostLinks",
		themeConfig: {
			search: { provider: "local" },
			outline: { level: [2, 3] },
			nav: [
				{ text: "Tutorial", link: "/tutorial" },
				{ text: "Guides", link: "/which-call", activeMatch: "^/(?:guide|which-call|deployment)" },
				{ text: "Cookbook", link: "/cookbook/", activeMatch: "^/cookbook/" },
				{ text: "Reference", link: "/api/", activeMatch: "^/api/" },
				{ text: "Concepts", link: "/design", activeMatch: "^/(?:design|glossary|errors|adr)" },
			],
			sidebar: {
				"/api/": [
					{
						text: "Reference",
						link: "/api/",
						items: reference.map(({ title, path }) => ({ text: title, link: linkOf(path) })),
					},
				],
				"/": sidebarOf(pages),
			},
			docFooter: { prev: "Before", next: "Next" },
		},
	};
}

function stage(pages: readonly Page[]): void {
	rmSync(site, { recursive: true, force: true });
	const write = (path: string, text: string): void => {
		mkdirSync(dirname(join(site, path)), { recursive: true });
		writeFileSync(join(site, path), text);
	};
	for (const { path, text } of pages) write(`src/${path}`, text);
	cpSync(join(root, "docs/images"), join(site, "src", images), { recursive: true });
	cpSync(join(import.meta.dirname, "theme"), join(site, ".vitepress/theme"), { recursive: true });
	write(".vitepress/config.mjs", `export default ${JSON.stringify(configure(pages))};\n`);
}

/** Links of the built pages to headings that are not there. VitePress itself looks for the pages only. */
function findDeadAnchors(folder: string): readonly string[] {
	const pages = listFiles(folder, ".html");
	const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), "utf8")]));
	const anchors = new Map(
		[...texts].map(([page, text]) => [
			page,
			new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)),
		]),
	);
	return pages.flatMap((page) => {
		const links = [...(texts.get(page) ?? "").matchAll(/\shref="(?<path>[^"#:]*)#(?<anchor>[^"]+)"/g)];
		return links.flatMap(({ groups }) => {
			const path = (groups?.path ?? "").replace(process.env.DOCS_BASE ?? "/", "/");
			const there = path === "" ? page : posix.join(path.startsWith("/") ? "." : posix.dirname(page), path);
			const file = there.replace(/^\//, "").replace(/(^|\/)$/, "$1index.html");
			const anchor = decodeURIComponent(groups?.anchor ?? "");
			return anchors.get(file)?.has(anchor) === true ? [] : [`${page}: ${path}#${anchor}`];
		});
	});
}

const pages = collectPages(root);
stage(pages);
await build(site);
const dist = join(site, "dist");
if (!existsSync(join(dist, "index.html"))) throw new Error("The site has no first page.");
const dead = [...new Set(findDeadAnchors(dist))];
for (const link of dead) console.error(`There is no such heading: ${link}`);
console.log(`${pages.length} pages in .site/dist, ${dead.length} dead links to headings.`);
process.exitCode = dead.length === 0 ? 0 : 1;

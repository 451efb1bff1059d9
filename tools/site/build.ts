// `npm run docs`: builds the site into .site/dist, as plain files for any static file server. Requires the output of `npm
// run build` in dist. A broken link, to a page or to a heading, fails the build.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { build, type DefaultTheme, type UserConfig } from "vitepress";
import { listFiles } from "../list-sources.ts";
import type { Page } from "./api-pages.ts";
import { writeForAgents } from "./for-agents.ts";
import { outline } from "./outline.ts";
import { collectPages, images } from "./pages.ts";

const root = join(import.meta.dirname, "../..");
const site = join(root, ".site");

type Item = DefaultTheme.SidebarItem;

const linkOf = (path: string): string => `/${path.replace(/\.md$/, "").replace(/(?:^|\/)index$/, "/")}`;

/**
 * Returns a sidebar for guides and concepts, and one for each folder whose group is collapsed in the others: there it is a
 * single link. A page that renders a link to every page takes half a second longer to respond on a phone.
 */
function sidebarsOf(pages: readonly Page[]): Record<string, Item[]> {
	const titles = new Map(pages.map(({ path, title }) => [path.replace(/\.md$/, ""), title]));
	const named = new Set(outline.flatMap((group) => group.pages));
	const missing = [...named].filter((page) => !titles.has(page));
	if (missing.length > 0) throw new Error(`tools/site/outline.ts names pages that are not there: ${missing}`);
	const groups = outline.map(({ text, pages: first, rest, collapsed }) => {
		const others = [...titles.keys()]
			.filter((page) => rest !== undefined && page.startsWith(`${rest}/`) && !named.has(page))
			.sort();
		const items = [...first, ...others].map((page) => ({
			text: titles.get(page) ?? page,
			link: linkOf(page),
		}));
		return { text, items, folder: collapsed === true ? rest : undefined };
	});
	const linksTo = (chosen: typeof groups): Item[] =>
		chosen.flatMap(({ text, items: [first] }) => (first === undefined ? [] : { text, link: first.link }));
	const folders = groups.filter(({ folder }) => folder !== undefined);
	const guides = groups.filter(({ folder }) => folder === undefined);
	const shown = (group: (typeof groups)[number]): Item => ({ text: group.text, items: group.items });
	const ofFolders = folders.map((group): [string, Item[]] => [
		`/${group.folder}`,
		[
			shown(group),
			{ text: "Guides", items: linksTo(guides) },
			{ text: "More", items: linksTo(folders.filter((other) => other !== group)) },
		],
	]);
	return {
		...Object.fromEntries(ofFolders),
		"/": [...guides.map(shown), { text: "More", items: linksTo(folders) }],
	};
}

/** The address of the repository for "Edit this page" and the icon in the bar; none by default. */
const repository = process.env.DOCS_REPOSITORY?.replace(/\/$/, "");
/** The address of the site, for links of social cards. */
const origin = process.env.DOCS_ORIGIN?.replace(/\/$/, "");
const base = process.env.DOCS_BASE ?? "/";

/** Returns a sidebar for each entry of the reference, with the pages of its names. */
function referenceSidebars(pages: readonly Page[]): Record<string, Item[]> {
	const isEntry = ({ path }: Page): boolean => path.split("/").length === 2;
	const reference = pages.filter(({ path }) => path.startsWith("api/") && path !== "api/index.md");
	const entries = reference.filter(isEntry);
	const all = entries.map(({ title, path }) => ({ text: title, link: linkOf(path) }));
	const own = entries.map(({ title, path }): [string, Item[]] => {
		const folder = path.replace(/\.md$/, "/");
		const items = reference
			.filter((page) => page.path.startsWith(folder))
			.map((page) => ({ text: page.title, link: linkOf(page.path) }))
			.sort((a, b) => a.text.localeCompare(b.text, "en"));
		return [
			`/${folder}`,
			[{ text: "Reference", link: "/api/", items: [{ text: title, link: linkOf(path), items }] }],
		];
	});
	return { ...Object.fromEntries(own), "/api/": [{ text: "Reference", link: "/api/", items: all }] };
}

const description =
	"An agent runtime for TypeScript: durable sessions that survive kill -9, without infrastructure.";

function configure(pages: readonly Page[]): UserConfig<DefaultTheme.Config> {
	return {
		title: "Holdfast",
		description,
		lang: "en",
		base,
		srcDir: "src",
		outDir: "dist",
		ignoreDeadLinks: "localhostLinks",
		metaChunk: true,
		// The default themes miss the contrast that WCAG AA requires.
		markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
		head: [
			["link", { rel: "icon", href: `${base}favicon.svg`, type: "image/svg+xml" }],
			["meta", { name: "theme-color", content: "#0b5d74" }],
			["meta", { property: "og:type", content: "website" }],
			["meta", { property: "og:title", content: "Holdfast" }],
			["meta", { property: "og:description", content: description }],
			["meta", { property: "og:image", content: `${origin ?? ""}${base}social-card.png` }],
			["meta", { name: "twitter:card", content: "summary_large_image" }],
		],
		themeConfig: {
			logo: { src: "/favicon.svg", alt: "" },
			outline: { level: [2, 3] },
			nav: [
				{ text: "Tutorial", link: "/tutorial" },
				{ text: "Guides", link: "/which-call", activeMatch: "^/(?:guide|which-call|deployment)" },
				{ text: "Cookbook", link: "/cookbook/", activeMatch: "^/cookbook/" },
				{ text: "Reference", link: "/api/", activeMatch: "^/api/" },
				{ text: "Concepts", link: "/design", activeMatch: "^/(?:design|glossary|errors|adr)" },
			],
			sidebar: { ...referenceSidebars(pages), ...sidebarsOf(pages) },
			docFooter: { prev: "Previous", next: "Next" },
			...(repository !== undefined && { socialLinks: [{ icon: "github", link: repository }] }),
		},
	};
}

/** The part of the configuration that JSON cannot express: functions. */
const functions = `
import { indexOptions, searchOptions } from ${JSON.stringify(join(import.meta.dirname, "search.ts"))};
config.themeConfig.search = { provider: "local", options: { miniSearch: { options: indexOptions, searchOptions } } };
${
	repository === undefined
		? // Without a link to the repository there are no icons, and their style sheet is an empty file that delays the page.
			`config.transformHtml = (html) => html.replace(/<link[^>]*vp-icons[.]css[^>]*>/, "");`
		: `config.themeConfig.editLink = { text: "Edit this page", pattern: ({ frontmatter }) => ${JSON.stringify(`${repository}/edit/main/`)} + frontmatter.source };`
}
`;

function stage(pages: readonly Page[]): void {
	rmSync(site, { recursive: true, force: true });
	const write = (path: string, text: string): void => {
		mkdirSync(dirname(join(site, path)), { recursive: true });
		writeFileSync(join(site, path), text);
	};
	for (const { path, text } of pages) write(`src/${path}`, text);
	cpSync(join(root, "docs/images"), join(site, "src", images), { recursive: true });
	cpSync(join(import.meta.dirname, "theme"), join(site, ".vitepress/theme"), { recursive: true });
	cpSync(join(root, "docs/images"), join(site, "src/public", images), { recursive: true });
	cpSync(join(import.meta.dirname, "public"), join(site, "src/public"), { recursive: true });
	write(
		".vitepress/config.mjs",
		`const config = ${JSON.stringify(configure(pages))};\n${functions}\nexport default config;\n`,
	);
}

/** Finds links to missing headings in the built pages. VitePress itself only checks pages. */
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
			const path = (groups?.path ?? "").replace(base, "/");
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
writeForAgents(dist, pages, description);
if (!existsSync(join(dist, "index.html"))) throw new Error("The site has no first page.");
const dead = [...new Set(findDeadAnchors(dist))];
for (const link of dead) console.error(`There is no such heading: ${link}`);
console.log(`${pages.length} pages in .site/dist, ${dead.length} dead links to headings.`);
process.exitCode = dead.length === 0 ? 0 : 1;

// The pages of the site: the repository's documents with adjusted links, and the reference.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { listFiles } from "../list-sources.ts";
import { type Page, writeApiPages } from "./api-pages.ts";

/** The site's folder for the images of docs/images. */
export const images = "images";

/** Documents that are not pages: lists for contributors, and files copied into users' projects. */
const leftOut =
	/^(?:README\.md|docs\/(?:requirements|names)\.md|bench\/|test\/|tools\/|packages\/(?!([^/]+)\/README\.md$))/;

/** The targets of links to documents that are not pages. */
const instead: ReadonlyMap<string, string> = new Map([
	["README.md", "index.md"],
	["docs/names.md", "api/index.md"],
	["docs/adr", "design.md"],
	["examples", "examples/index.md"],
]);

/** Returns the path of a document in the site; undefined if it is not a page. */
export function placeOf(paper: string): string | undefined {
	if (paper === "tools/site/home.md") return "index.md";
	if (leftOut.test(paper)) return undefined;
	if (paper === "examples/README.md") return "examples/index.md";
	const readme = /^(?<kind>packages|examples)\/(?<name>[^/]+)\/README\.md$/.exec(paper)?.groups;
	if (readme !== undefined) return `${readme.kind}/${readme.name}.md`;
	if (paper.startsWith("docs/")) return paper.slice("docs/".length);
	return paper.includes("/") ? undefined : paper.toLowerCase();
}

/** Returns all pages. Throws if the packages are not built. */
export function collectPages(root: string): readonly SitePage[] {
	const papers = listFiles(root, ".md");
	const places = new Map(
		papers.flatMap((paper) => {
			const place = placeOf(paper);
			return place === undefined ? [] : [[paper, place] as const];
		}),
	);
	const read = (paper: string, path: string): string =>
		withLinks(readFileSync(join(root, paper), "utf8"), { paper, path }, places);
	const readme = read("README.md", "index.md");
	const pages = [...places].map(([paper, path]) => {
		const text = read(paper, path);
		return {
			path,
			title: titleOf(text),
			source: paper,
			text: path === "index.md" ? withParts(text, readme) : text,
		};
	});
	const reference = writeApiPages(root);
	return [...pages, ...reference, referenceIndex(reference)].map((page) => ({
		...page,
		plain: page.text,
		text: withFrontmatter(
			outsideBlocks(withPackageManagers(page.text), (piece) => withoutTags(withoutMustaches(piece))),
			page.source,
		),
	}));
}

/** A built page, and its Markdown for programs. */
export interface SitePage extends Page {
	readonly plain: string;
}

/** Adds parts of the README to the landing page; a test runs their example. */
function withParts(text: string, readme: string): string {
	const [, example, output] = /(```ts\n[\s\S]*?```)\n+(```text\n[\s\S]*?```)/.exec(readme) ?? [];
	const [, comparison] = /^## Comparison\n+([\s\S]*?)^## /m.exec(readme) ?? [];
	const parts = { example, output, comparison };
	return text.replaceAll(/<!-- README: (\w+) -->/g, (_, name: keyof typeof parts) => {
		const part = parts[name];
		if (part === undefined) throw new Error(`README.md has no ${name} for the landing page`);
		return part;
	});
}

/** Adds front matter, which contains the file that "Edit this page" opens. */
function withFrontmatter(text: string, source: string | undefined): string {
	if (source === undefined) return text;
	const line = `source: ${source}\n`;
	return text.startsWith("---\n") ? text.replace("---\n", `---\n${line}`) : `---\n${line}---\n${text}`;
}

const managers: readonly (readonly [name: string, (line: string) => string])[] = [
	["npm", (line) => line],
	[
		"pnpm",
		(line) =>
			line
				.replace(/^npm install (?=[-@\w])/, "pnpm add ")
				.replace(/^npm create (.*?) -- /, "pnpm create $1 ")
				.replace(/^npx /, "pnpm dlx ")
				.replace(/^npm /, "pnpm "),
	],
	[
		"yarn",
		(line) =>
			line
				.replace(/^npm install --global /, "yarn global add ")
				.replace(/^npm install (?=[-@\w])/, "yarn add ")
				.replace(/^npm install/, "yarn")
				.replace(/^npm create (\S+?)(?:@latest)?(?= |$)/, "yarn create $1")
				.replace(/^(yarn create .*?) -- /, "$1 ")
				.replace(/^npx /, "yarn dlx ")
				.replace(/^npm (?:run )?/, "yarn ")
				.replace("--save-dev", "--dev"),
	],
	[
		"bun",
		(line) =>
			line
				.replace(/^npm install (?=[-@\w])/, "bun add ")
				.replace(/^npm create (.*?) -- /, "bun create $1 ")
				.replace(/^npx /, "bunx ")
				.replace(/^npm (start|test)\b/, "bun run $1")
				.replace(/^npm /, "bun ")
				.replace("--save-dev", "--dev"),
	],
];

/** Adds a tab per package manager to blocks with install commands. */
export function withPackageManagers(text: string): string {
	return text.replaceAll(
		/^```sh\n((?:(?:npm (?:install|create|start|test|run)|npx|cd) ?[^\n&]*\n)+)```$/gm,
		(block, commands: string) => {
			if (!/^npm (?:install|create)/m.test(commands)) return block;
			const lines = commands.trimEnd().split("\n");
			const tabs = managers.map(
				([name, change]) => `\`\`\`sh [${name}]\n${lines.map(change).join("\n")}\n\`\`\``,
			);
			return ["::: code-group", "", ...tabs, "", ":::"].join("\n");
		},
	);
}

/** Changes the text outside fenced blocks. */
function outsideBlocks(text: string, change: (piece: string) => string): string {
	const pieces = text.split(/(^```[\s\S]*?^```)/m);
	return pieces.map((piece, at) => (at % 2 === 1 ? piece : change(piece))).join("");
}

/** HTML elements that a document may contain. Other text in angle brackets is literal: `Promise<string>`. */
const element =
	/^<(?:\/?(?:a|b|br|code|details|div|em|hr|i|img|kbd|p|pre|span|strong|sub|summary|sup|Badge)\b|!--|https?:)/;

/** Escapes text outside inline code, which the site would parse as a template. */
function withoutTags(text: string): string {
	return text
		.split(/(`+[^`]*`+)/)
		.map((piece, at) =>
			at % 2 === 1
				? piece
				: piece
						.replaceAll(/</g, (sign, place: number) => (element.test(piece.slice(place)) ? sign : "&lt;"))
						.replaceAll("{{", "&#123;&#123;"),
		)
		.join("");
}

/** Escapes double braces in inline code, which the site would evaluate. */
function withoutMustaches(text: string): string {
	return text.replaceAll(/`([^`\n]*\{\{[^`\n]*)`/g, (_, code: string) => {
		const shown = code.replaceAll(/[&<>{}*_[\]]|\\(?!\|)/g, (sign) => `&#${sign.charCodeAt(0)};`);
		return `<code>${shown}</code>`;
	});
}

function titleOf(text: string): string {
	return (/^# (?<title>.+)$/m.exec(text)?.groups?.title ?? "").replaceAll("`", "");
}

function referenceIndex(reference: readonly Page[]): Page {
	const entries = reference.filter(({ path }) => path.split("/").length === 2);
	const rows = entries.map(({ path, title, text }) => {
		const [, summary = ""] = /^# .+\n\n(.+)$/m.exec(text) ?? [];
		return `| [\`${title}\`](./${path.slice("api/".length)}) | ${summary.replaceAll("|", "\\|")} |`;
	});
	const head = [
		"---",
		"editLink: false",
		"---",
		"# Reference",
		"",
		"Every name that you can import, by the entry point that exports it.",
		"",
	];
	const text = [...head, "| import from | description |", "|---|---|", ...rows, ""].join("\n");
	return { path: "api/index.md", title: "Reference", text };
}

/** Converts a document to a page: without hidden comments, and with links within the site. */
function withLinks(
	text: string,
	from: { readonly paper: string; readonly path: string },
	places: ReadonlyMap<string, string>,
): string {
	const link = (whole: string, label: string, target: string): string => {
		if (/^(?:[a-z]+:|#)/.test(target)) return whole;
		const [file = "", anchor] = target.split("#");
		const paper = posix.join(posix.dirname(from.paper), file).replace(/\/$/, "");
		const place = places.get(paper) ?? places.get(`${paper}/README.md`) ?? instead.get(paper);
		if (place === undefined) return label;
		const path = posix.relative(posix.dirname(from.path), place);
		return `[${label}](${path.startsWith(".") ? path : `./${path}`}${anchor === undefined ? "" : `#${anchor}`})`;
	};
	const image = (_: string, before: string, source: string): string => {
		const target = posix.join(posix.dirname(from.paper), source);
		if (!target.startsWith("docs/images/")) throw new Error(`${from.paper}: ${source} is not in docs/images`);
		const path = posix.relative(posix.dirname(from.path), posix.join(images, posix.basename(target)));
		return `${before}${path.startsWith(".") ? path : `./${path}`}"`;
	};
	const seen = text.replaceAll(/<!-- preamble[\s\S]*?-->\n*/g, "").replaceAll(/^```ts no-run$/gm, "```ts");
	return outsideBlocks(seen, (piece) =>
		piece
			.replaceAll(/(<img\s[^>]*?src=")([^":]+)"/g, image)
			.replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, link),
	);
}

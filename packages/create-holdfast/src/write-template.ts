// Writes the files of a template into a folder: all or none, and never over an existing file.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { packageFolder } from "./package-folder.ts";
import type { TemplateName } from "./templates.ts";

/** What `writeTemplate` takes. */
export interface WriteTemplateOptions {
	readonly template: TemplateName;
	/** The folder; it is made where it is missing. Its name becomes the name of the package. */
	readonly folder: string;
	/** Whether other files may lie in the folder. Default: `"nothing"` but what version control and editors leave there. */
	readonly mayHold?: "nothing" | "other-files";
}

/** The result of writing a template. */
export interface WrittenTemplate {
	/** Paths that were written, with slashes; empty when something was in the way. */
	readonly written: readonly string[];
	/** Existing files that prevented it. Nothing was written then. */
	readonly inTheWay: readonly string[];
}

/** Entries that an otherwise empty folder may contain. */
const harmless = /^(?:\.git|\.gitattributes|\.DS_Store|\.idea|\.vscode|Thumbs\.db)$/;

/**
 * Makes a folder of a template. When a file cannot be written, those that were are removed, and what the system said is
 * thrown.
 *
 * @throws Error of the file system, with its `code`: ENOSPC, EACCES, ENOTDIR …
 * @example
 * ```ts
 * import { existsSync } from "node:fs";
 *
 * const { written } = await writeTemplate({ template: "script", folder: "my-agent" });
 * console.log(written.length, existsSync("my-agent/package.json"));
 * ```
 */
export async function writeTemplate({
	template,
	folder,
	mayHold = "nothing",
}: WriteTemplateOptions): Promise<WrittenTemplate> {
	const files = await readTemplate(template, folder);
	const there = existsSync(folder) ? await readdir(folder) : [];
	const inTheWay =
		mayHold === "nothing"
			? there.filter((name) => !harmless.test(name))
			: [...files.keys()].filter((path) => existsSync(join(folder, path)));
	if (inTheWay.length > 0) return { written: [], inTheWay };
	const undo: (() => Promise<void>)[] = [];
	try {
		for (const [path, content] of files) {
			const file = join(folder, path);
			await makeFolder(dirname(file), undo);
			await writeFile(file, content, { flag: "wx" });
			undo.push(() => rm(file));
		}
	} catch (error) {
		for (const step of undo.reverse()) await step().catch(() => {}); // the first error is the one to report
		throw error;
	}
	return { written: [...files.keys()], inTheWay: [] };
}

/** The files of a template by their paths in the new folder. */
async function readTemplate(
	template: TemplateName,
	folder: string,
): Promise<ReadonlyMap<string, string | Buffer>> {
	const source = join(packageFolder(), "templates", template);
	const entries = await readdir(source, { recursive: true, withFileTypes: true });
	const paths = entries
		.filter((entry) => entry.isFile())
		.map((entry) => relative(source, join(entry.parentPath, entry.name)).split(sep).join("/"))
		.filter((path) => !/(?:^|\/)node_modules\//.test(path))
		.sort();
	const files = new Map<string, string | Buffer>();
	for (const path of paths) {
		const content = await readFile(join(source, path));
		// npm leaves a .gitignore out of a package.
		const target = path === "_gitignore" ? ".gitignore" : path;
		const named = path === "package.json" || path === "wrangler.jsonc";
		files.set(target, named ? withName(content.toString(), nameOf(folder)) : content);
	}
	return files;
}

/** A manifest under another name; its own is the first it has. */
function withName(manifest: string, name: string): string {
	return manifest.replace(/^(?<before>\s*"name": )"[^"]*"/m, `$<before>${JSON.stringify(name)}`);
}

/** The name of the folder, as npm and others allow it. */
function nameOf(folder: string): string {
	const name = basename(folder)
		.toLowerCase()
		.replaceAll(/[^a-z0-9-]+/g, "-")
		.replace(/^-+|-+$/g, "");
	return name === "" ? "agents" : name;
}

/** Makes a folder and those above it, each to be removed again. */
async function makeFolder(folder: string, undo: (() => Promise<void>)[]): Promise<void> {
	if (existsSync(folder)) return;
	await makeFolder(dirname(folder), undo);
	await mkdir(folder);
	undo.push(() => rmdir(folder));
}

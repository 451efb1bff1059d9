// Writes the files of a template into a folder: all or none, and never over an existing file.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { packageFolder } from "./package-folder.ts";
import type { TemplateName } from "./templates.ts";

/** Options of `writeTemplate`. */
export interface WriteTemplateOptions {
	/** The template to write. */
	readonly template: TemplateName;
	/** The folder; created if it is missing. Its name becomes the name of the package. */
	readonly folder: string;
	/** Whether the folder may contain other files. Default: `"nothing"`, except files of version control and editors. */
	readonly mayHold?: "nothing" | "other-files";
	/** Stops writing when it aborts: the files written so far are removed, and the signal's reason is thrown. Default: none. */
	readonly signal?: AbortSignal;
}

/** The result of writing a template. */
export interface WrittenTemplate {
	/** Paths that were written, with forward slashes; empty if existing files prevented it. */
	readonly written: readonly string[];
	/** Existing files that prevented it. Nothing was written in that case. */
	readonly inTheWay: readonly string[];
}

/** Entries that an otherwise empty folder may contain. */
const harmless = /^(?:\.git|\.gitattributes|\.DS_Store|\.idea|\.vscode|Thumbs\.db)$/;

/**
 * Creates a folder from a template. If a file cannot be written, the files written so far are removed, and the system's
 * error is thrown.
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
	signal,
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
			signal?.throwIfAborted();
			const file = join(folder, path);
			await makeFolder(dirname(file), undo);
			await writeFile(file, content, { flag: "wx" });
			undo.push(() => rm(file));
		}
		signal?.throwIfAborted();
	} catch (error) {
		for (const step of undo.reverse()) await step().catch(() => {}); // The first error is the one to report.
		throw error;
	}
	return { written: [...files.keys()], inTheWay: [] };
}

/** Reads the files of a template by their paths in the new folder. */
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
		// npm omits .gitignore files from packages.
		const target = path === "_gitignore" ? ".gitignore" : path;
		const named = path === "package.json" || path === "wrangler.jsonc";
		files.set(target, named ? withName(content.toString(), nameOf(folder)) : content);
	}
	return files;
}

/** Returns a manifest with another name; its own is the first in it. */
function withName(manifest: string, name: string): string {
	return manifest.replace(/^(?<before>\s*"name": )"[^"]*"/m, `$<before>${JSON.stringify(name)}`);
}

/** Converts the name of the folder to one that npm and others allow. */
function nameOf(folder: string): string {
	const name = basename(folder)
		.toLowerCase()
		.replaceAll(/[^a-z0-9-]+/g, "-")
		.replace(/^-+|-+$/g, "");
	return name === "" ? "agents" : name;
}

/** Creates a folder and its missing parents, and registers their removal. */
async function makeFolder(folder: string, undo: (() => Promise<void>)[]): Promise<void> {
	if (existsSync(folder)) return;
	await makeFolder(dirname(folder), undo);
	await mkdir(folder);
	undo.push(() => rmdir(folder));
}

// Finds the files of a project or a package by their folders; items need no registration.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import type { ItemKind } from "../types/index.ts";

/** The folder for each kind of item. */
const folders: Readonly<Record<ItemKind, string>> = {
	agent: "agents",
	prompt: "prompts",
	tool: "tools",
	model: "models",
	hook: "hooks",
	effect: "effects",
	provider: "providers",
};

/** A file that defines something. */
export interface FoundFile {
	readonly kind: ItemKind | "endpoint";
	/** Absolute path. */
	readonly path: string;
	/** Its path below its folder, without the extension: `send_mail`, `files/[id].get`. */
	readonly stem: string;
}

const source = /^(?<stem>.+?)\.(?:ts|mts|js|mjs)$/;
const ignored = /\.d\.m?ts$|\.(?:test|test-d|spec)\.m?[jt]s$/;

/** Returns the files of the folder that contains `agents/`, `prompts/` and the others, in a fixed order. */
export async function discover(folder: string): Promise<readonly FoundFile[]> {
	const kinds = Object.entries(folders) as [ItemKind, string][];
	const lists = await Promise.all([
		...kinds.map(([kind, name]) => listFolder(kind, join(folder, name), "", false)),
		listFolder("endpoint", join(folder, "api"), "", true),
	]);
	return lists.flat();
}

async function listFolder(
	kind: FoundFile["kind"],
	folder: string,
	prefix: string,
	deep: boolean,
): Promise<readonly FoundFile[]> {
	const found: FoundFile[] = [];
	for (const entry of await entriesOf(folder)) {
		const path = join(folder, entry.name);
		if (entry.isDirectory() && deep) {
			found.push(...(await listFolder(kind, path, `${prefix}${entry.name}/`, deep)));
			continue;
		}
		const stem = ignored.test(entry.name) ? undefined : source.exec(entry.name)?.groups?.stem;
		if (stem !== undefined && !entry.isDirectory()) found.push({ kind, path, stem: prefix + stem });
	}
	return found;
}

/** Returns the entries of a folder, sorted by name; none if the folder does not exist. */
export async function entriesOf(
	folder: string,
): Promise<readonly { readonly name: string; isDirectory(): boolean; isSymbolicLink(): boolean }[]> {
	try {
		const entries = await readdir(folder, { withFileTypes: true });
		return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return [];
		throw new HoldfastError("project_unreadable", `The folder ${folder} cannot be read: ${code}.`, {
			cause: error,
			data: { folder },
		});
	}
}

/** Returns all files in a folder and its subfolders, except `node_modules`. */
export async function filesIn(folder: string): Promise<readonly string[]> {
	const entries = (await entriesOf(folder)).filter(({ name }) => name !== "node_modules");
	const lists = await Promise.all(
		entries.map((entry) => {
			const path = join(folder, entry.name);
			return entry.isDirectory() ? filesIn(path) : [path];
		}),
	);
	return lists.flat();
}

/** Maximum number of files that are open at once. */
const together = 64;

/**
 * Runs `read` for each item of a list, in order, with limited concurrency so that the process never runs out of open
 * files.
 */
export async function inGroups<Given, Read>(
	list: readonly Given[],
	read: (given: Given) => Promise<Read>,
): Promise<Read[]> {
	const results: Read[] = [];
	for (let at = 0; at < list.length; at += together)
		results.push(...(await Promise.all(list.slice(at, at + together).map(read))));
	return results;
}

// Writes a version where the repository states it: the packages and their dependencies on each other, the templates, the
// lock file and the changelog.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readWorkspaces } from "./workspaces.ts";

interface LockFile {
	packages: Record<string, { version?: string } & Record<string, Record<string, string> | undefined>>;
}

/**
 * Writes the version; returns the earlier text of each changed file, by its path.
 *
 * @throws Error if the changelog has no entries for a release; nothing was written then.
 */
export function setVersion(root: string, version: string, date: Date): Map<string, string> {
	const before = new Map<string, string>();
	const after = new Map<string, string>();
	const change = (file: string, edit: (text: string) => string): void => {
		const text = readFileSync(file, "utf8");
		const edited = edit(text);
		if (edited === text) return;
		before.set(file, text);
		after.set(file, edited);
	};
	const workspaces = readWorkspaces(root);
	const names = workspaces.map(({ name }) => name);
	// A range of a template allows what is compatible; packages need each other exactly.
	const dependency = new RegExp(`("(?:${names.join("|")})": "\\^?)\\d+\\.\\d+\\.\\d+[^"]*"`, "g");
	const inDependencies = (text: string): string => text.replaceAll(dependency, `$1${version}"`);
	const own = /^(?<start> {2}"version": )"[^"]*"/m;

	change(join(root, "package.json"), inDependencies);
	const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	for (const { folder } of workspaces)
		change(join(root, "packages", folder, "package.json"), (text) =>
			withRepository(inDependencies(text).replace(own, `$<start>"${version}"`), repository, folder),
		);
	const templates = join(root, "packages/create-holdfast/templates");
	for (const template of readdirSync(templates)) {
		const file = join(templates, template, "package.json");
		if (existsSync(file)) change(file, inDependencies);
	}
	change(join(root, "package-lock.json"), (text) => {
		const lock: LockFile = JSON.parse(text);
		for (const [place, entry] of Object.entries(lock.packages)) {
			if (place !== "" && !/^packages\/[^/]+$/.test(place)) continue;
			if (place !== "") entry.version = version;
			for (const field of ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"])
				for (const name of Object.keys(entry[field] ?? {}))
					if (names.includes(name)) (entry[field] as Record<string, string>)[name] = version;
		}
		return `${JSON.stringify(lock, undefined, 2)}\n`;
	});
	change(join(root, "CHANGELOG.md"), (text) => {
		const title = `## ${version} (${date.toISOString().slice(0, 10)})`;
		if (new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d`, "m").test(text)) return text;
		if (!/^## .*\(unreleased\)$/m.test(text))
			throw new Error("CHANGELOG.md has no heading with (unreleased), so the release has no entries.");
		return text.replace(/^## .*\(unreleased\)$/m, title);
	});
	for (const [file, text] of after) writeFileSync(file, text);
	return before;
}

/** Adds the repository that the root states to the manifest of a package, because npm signs provenance only with it. */
function withRepository(manifest: string, repository: object | undefined, folder: string): string {
	if (repository === undefined) return manifest;
	const stated = { ...JSON.parse(manifest), repository: { ...repository, directory: `packages/${folder}` } };
	return `${JSON.stringify(stated, undefined, 2)}\n`;
}

// Versions of a project's modules, so that a changed module is reloaded while the others stay. Node caches a module under
// its URL permanently. Every module of the project is therefore loaded under a URL with its version: a change gives new
// versions to the file and to all its direct and indirect importers. Old versions stay in memory until the process ends,
// so use this for development only.
import { randomUUID } from "node:crypto";
import { registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The modules of one project in this process. */
export interface ModuleVersions {
	/** Returns the URL under which a file is loaded now. */
	versioned(url: string): string;
	/** Gives new versions to files and to all modules that import them. */
	bump(files: Iterable<string>): void;
	/** Returns all files that were loaded. */
	files(): readonly string[];
	/** Stops watching imports. */
	close(): void;
}

/** Versions the modules below a folder, except those in `node_modules`. */
export function moduleVersions(directory: string): ModuleVersions {
	const marker = `?holdfast=${randomUUID()}.`;
	const versions = new Map<string, number>();
	const importers = new Map<string, Set<string>>();

	const versioned = (url: string): string => {
		if (!url.startsWith("file:") || url.includes("?")) return url;
		const file = fileURLToPath(url);
		if (!file.startsWith(directory + sep) || file.includes(`${sep}node_modules${sep}`)) return url;
		if (!versions.has(file)) versions.set(file, 0);
		return `${pathToFileURL(file).href}${marker}${versions.get(file)}`;
	};

	// Imports of modules outside the project are left unchanged.
	const hooks = registerHooks({
		resolve(specifier, context, next) {
			const resolved = next(specifier, context);
			const parent = context.parentURL;
			if (parent === undefined || !parent.includes(marker)) return resolved;
			const url = versioned(resolved.url);
			if (url === resolved.url) return resolved;
			const file = fileURLToPath(resolved.url);
			const known = importers.get(file) ?? new Set();
			importers.set(file, known.add(fileURLToPath(parent)));
			return { ...resolved, url };
		},
	});

	return {
		versioned,
		bump(files) {
			const seen = new Set<string>();
			const waiting = [...files];
			for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
				if (seen.has(file)) continue;
				seen.add(file);
				versions.set(file, (versions.get(file) ?? 0) + 1);
				waiting.push(...(importers.get(file) ?? []));
			}
		},
		files: () => [...versions.keys()],
		close: () => hooks.deregister(),
	};
}

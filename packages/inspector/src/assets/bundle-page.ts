// Bundles the page by vite: into memory where the sources run as they are, into a folder where the package is built.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../page/", import.meta.url));

/** The files of the page by their names. `into`: a folder that they are written to, with the script's source map. */
export async function bundlePage(into?: string): Promise<ReadonlyMap<string, Uint8Array>> {
	const { build } = await import("vite");
	const result = await build({
		configFile: false,
		root: folder,
		logLevel: "error",
		resolve: { conditions: ["holdfast-source", "browser", "module", "import", "default"] },
		oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
		define: { "process.env.NODE_ENV": '"production"' },
		build: {
			write: into !== undefined,
			...(into === undefined ? {} : { outDir: into, emptyOutDir: true }),
			sourcemap: into !== undefined,
			modulePreload: false,
			rolldownOptions: {
				input: `${folder}main.tsx`,
				output: { entryFileNames: "app.js", assetFileNames: "app[extname]" },
			},
		},
	});
	const files = new Map<string, Uint8Array>();
	for (const { output } of [result].flat() as { output: readonly Bundled[] }[]) {
		for (const { fileName, code, source = code } of output)
			files.set(
				fileName,
				typeof source === "string" ? new TextEncoder().encode(source) : (source ?? new Uint8Array()),
			);
	}
	for (const name of ["index.html", "icon.svg"]) {
		const content = await readFile(`${folder}${name}`);
		files.set(name, content);
		if (into !== undefined) await writeFile(`${into}/${name}`, content);
	}
	return files;
}

interface Bundled {
	readonly fileName: string;
	readonly code?: string;
	readonly source?: string | Uint8Array;
}

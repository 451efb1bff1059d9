// Builds the page with Vite. `npm run build` publishes the result as the module that `#page` resolves to.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../page/", import.meta.url));

/** Returns the files of the page by name. */
export async function pageFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
	const { build } = await import("vite");
	const result = await build({
		configFile: false,
		root: folder,
		logLevel: "error",
		resolve: { conditions: ["holdfast-source", "browser", "module", "import", "default"] },
		oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
		define: { "process.env.NODE_ENV": '"production"' },
		build: {
			write: false,
			modulePreload: false,
			rolldownOptions: {
				input: `${folder}main.tsx`,
				output: { entryFileNames: "app.js", chunkFileNames: "[name].js", assetFileNames: "app[extname]" },
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
	for (const name of ["index.html", "icon.svg"]) files.set(name, await readFile(`${folder}${name}`));
	return files;
}

interface Bundled {
	readonly fileName: string;
	readonly code?: string;
	readonly source?: string | Uint8Array;
}

// Converts a file and the modules it imports within its project to JavaScript: types are erased, and imports name `.js`
// files.
import { readFile, stat } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, relative, resolve, sep } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import { init, parse } from "es-module-lexer";

/** A file of a package. */
export interface PackageFile {
	/** Its path from the root of the package, with slashes. */
	readonly path: string;
	/** The content of the file. */
	readonly content: string | Uint8Array;
	/** Absolute paths of the files that it imports. */
	readonly imports: readonly string[];
	/** Names of the packages that it imports. */
	readonly packages: readonly string[];
}

const code = /\.(?<c>[cm]?)(?:ts|js)$/;

/** Returns a file in the form that a package contains. */
export async function packageFile(root: string, file: string): Promise<PackageFile> {
	const path = relative(root, file).split(sep).join("/");
	if (path.startsWith("../") || path.includes("node_modules/"))
		throw new HoldfastError("pack_refused", `The file ${file} is imported but is outside the project.`, {
			data: { file },
		});
	if (!code.test(file)) return { path, content: await readFile(file), imports: [], packages: [] };
	const text = await readFile(file, "utf8");
	const script = /ts$/.test(file) ? stripTypeScriptTypes(text) : text;
	await init;
	const [found] = parse(script, path);
	const imports: string[] = [];
	const packages: string[] = [];
	let content = "";
	let from = 0;
	for (const { n: specifier, s: start, e: end, d: dynamic } of found) {
		if (specifier === undefined) continue;
		if (!specifier.startsWith(".")) {
			if (!specifier.startsWith("node:")) packages.push(packageOf(specifier));
			continue;
		}
		const target = resolve(dirname(file), specifier);
		await see(file, target, specifier);
		imports.push(target);
		// A dynamic import's position includes its quotes.
		const quote = dynamic > -1 ? (script[start] ?? "") : "";
		content += script.slice(from, start) + quote + asScript(specifier) + quote;
		from = end;
	}
	return { path: asScript(path), content: content + script.slice(from), imports, packages };
}

/** Returns the name of a module after its types are erased. */
function asScript(path: string): string {
	return path.replace(code, ".$<c>js");
}

async function see(file: string, target: string, specifier: string): Promise<void> {
	const found = await stat(target).catch(() => undefined);
	if (found?.isFile()) return;
	throw new HoldfastError("pack_refused", `The file ${file} imports "${specifier}", which is not a file.`, {
		data: { file, specifier },
	});
}

function packageOf(specifier: string): string {
	return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

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

/** A file that code names relative to its module, such as a text that it reads. */
const asset =
	/(?<before>\bnew URL\(\s*(?<quote>["'`]))(?<path>\.\.?\/[^"'`$?#%]*)(?<after>\k<quote>\s*,\s*import\.meta\.url\s*,?\s*\))/g;

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
	const whole = content + script.slice(from);
	for (const { groups } of whole.matchAll(asset)) {
		const target = resolve(dirname(file), groups?.path ?? "");
		if (await isFile(target)) imports.push(target);
	}
	const named = whole.replace(asset, (...found) => {
		const { before, path: named, after } = found.at(-1) as Record<string, string>;
		return `${before}${asScript(named ?? "")}${after}`;
	});
	return { path: asScript(path), content: named, imports, packages };
}

/** Returns the name of a module after its types are erased. */
function asScript(path: string): string {
	return path.replace(code, ".$<c>js");
}

async function see(file: string, target: string, specifier: string): Promise<void> {
	if (await isFile(target)) return;
	throw new HoldfastError("pack_refused", `The file ${file} imports "${specifier}", which is not a file.`, {
		data: { file, specifier },
	});
}

async function isFile(path: string): Promise<boolean> {
	const found = await stat(path).catch(() => undefined);
	return found?.isFile() === true;
}

function packageOf(specifier: string): string {
	return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

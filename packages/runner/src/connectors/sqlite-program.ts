// Finds the program of `sqliteDriver`: the given one, the one next to the sources, or the entry point of the installed
// package. A bundle is never started as that program, because it would run the whole application again.
import { fileURLToPath, pathToFileURL } from "node:url";
import { HoldfastError } from "@holdfast/upp";

/** The location of this module; undefined in a CommonJS bundle. */
const own: string | undefined = import.meta.url;

/**
 * Returns the path of the program that queries a SQLite file.
 * @throws HoldfastError `SQL_PROGRAM_MISSING`
 */
export function sqliteProgram(given: string | URL | undefined): string {
	if (given !== undefined)
		return given instanceof URL || given.startsWith("file:") ? fileURLToPath(given) : given;
	// Not `new URL("…", own)`: Turbopack looks for that file when it builds an application, and fails without it.
	if (own?.endsWith(".ts")) return fileURLToPath(own.replace("connectors/sqlite-program", "sqlite-process"));
	const program = process.argv[1];
	const bases = [own, program === undefined ? undefined : pathToFileURL(program), `${process.cwd()}/`];
	// Not imported: webpack replaces the resolved paths of an imported `createRequire` with its own numbers.
	const { createRequire } = process.getBuiltinModule("node:module");
	for (const base of bases) {
		if (base === undefined) continue;
		try {
			return createRequire(base).resolve("@holdfast/runner/sqlite-process");
		} catch {
			// Not installed at this base.
		}
	}
	throw new HoldfastError(
		"SQL_PROGRAM_MISSING",
		"The program that queries a SQLite file was not found, as happens in a bundle that is deployed without node_modules. " +
			"Build the entry @holdfast/runner/sqlite-process into a separate file and call " +
			'sqliteDriver({ path, program: new URL("./that-file.js", import.meta.url) }), or deploy @holdfast/runner in node_modules.',
		{ retryable: false },
	);
}

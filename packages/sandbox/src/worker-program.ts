// Locates the program of a sandbox's threads: given, next to the sources, or the entry of the installed package. A bundle
// has neither of the last two next to it, so its location is not used.
import { pathToFileURL } from "node:url";
import { HoldfastError } from "@holdfast/upp";

/** The location of this module; undefined in a CommonJS bundle. */
const own: string | undefined = import.meta.url;

/**
 * Returns the program that a thread runs.
 * @throws HoldfastError `sandbox_worker_missing`
 */
export function workerProgram(given: string | URL | undefined): string | URL {
	if (given !== undefined) return given;
	// Not `new URL("…", own)`: Turbopack looks for that file when it builds an application, and fails without it.
	if (own?.endsWith(".ts")) return new URL(own.replace("worker-program", "worker"));
	const program = process.argv[1];
	const bases = [own, program === undefined ? undefined : pathToFileURL(program), `${process.cwd()}/`];
	// Not imported: webpack replaces the result of an imported `createRequire` with a module number.
	const { createRequire } = process.getBuiltinModule("node:module");
	for (const base of bases) {
		if (base === undefined) continue;
		try {
			return createRequire(base).resolve("@holdfast/sandbox/worker");
		} catch {
			// Not installed at this base.
		}
	}
	throw new HoldfastError(
		"sandbox_worker_missing",
		"The program of the sandbox's threads was not found, as happens in a bundle that is deployed without node_modules. " +
			"Build the entry @holdfast/sandbox/worker into a separate file, copy quickjs-wasi/quickjs.wasm next to it, and " +
			'call createSandbox({ worker: new URL("./that-file.js", import.meta.url) }), or deploy @holdfast/sandbox in node_modules.',
		{ retryable: false },
	);
}

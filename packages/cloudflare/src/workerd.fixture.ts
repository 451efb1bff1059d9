// The real runtime with a Worker of ours in it.
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { rolldown } from "rolldown";

/** A Worker file as one module, for the runtime. */
export async function bundleWorker(file: string): Promise<string> {
	const build = await rolldown({
		input: join(import.meta.dirname, file),
		platform: "neutral",
		external: [/^node:/, /^cloudflare:/],
		resolve: {
			conditionNames: ["holdfast-source", "workerd", "import", "default"],
			mainFields: ["module", "main"],
		},
	});
	const { output } = await build.generate({ format: "esm", codeSplitting: false });
	await build.close();
	return output[0].code;
}

/** Options of `startWorkerd`. */
export interface WorkerdOptions {
	readonly script: string;
	/** Classes of objects by the names of their bindings. */
	readonly objects: Readonly<Record<string, string>>;
	/** Folder in which the storages of objects survive. Default: none. */
	readonly persist?: string;
	readonly bindings?: Readonly<Record<string, string>>;
	readonly compatibilityDate?: string;
	readonly compatibilityFlags?: readonly string[];
}

/** Starts the runtime; `dispose()` ends it. */
export function startWorkerd({
	script,
	objects,
	persist,
	bindings = {},
	compatibilityDate = "2026-07-01",
	compatibilityFlags = ["nodejs_compat"],
}: WorkerdOptions): Miniflare {
	return new Miniflare({
		modules: [{ type: "ESModule", path: "worker.mjs", contents: script }],
		compatibilityDate,
		compatibilityFlags: [...compatibilityFlags],
		bindings,
		durableObjects: Object.fromEntries(
			Object.entries(objects).map(([name, className]) => [name, { className, useSQLite: true }]),
		),
		...(persist === undefined ? {} : { durableObjectsPersist: persist }),
	});
}

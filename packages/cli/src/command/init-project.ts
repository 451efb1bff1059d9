/** The command that creates a project. */
import { relative } from "node:path";
import { writeTemplate } from "create-holdfast";
import { type CommandIo, quoted } from "../terminal/index.ts";
import { exitCodes, UsageError } from "../work/index.ts";

/** Writes a project into a folder without replacing existing files; returns the exit code. */
export async function initProject(
	{ directory }: { readonly directory: string },
	io: CommandIo,
): Promise<number> {
	const { written, inTheWay } = await writeTemplate({
		template: "project",
		folder: directory,
		mayHold: "other-files",
	});
	if (inTheWay.length > 0)
		throw new UsageError(
			`${directory} already contains ${inTheWay.slice(0, 3).join(", ")}. Name a new folder: holdfast init DIR.`,
		);
	const folder = relative(io.folder, directory);
	io.stdout.write(`Created a project with ${written.length} files in ${directory}.
It runs at once, without a key: its model follows a few fixed rules.

  holdfast dev ${quoted(folder === "" ? "." : folder)}

For an editor and for npm test: npm install
`);
	return exitCodes.completed;
}

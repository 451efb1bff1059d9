// A tool that finds lines in the files of a folder.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunnerTool } from "@holdfast/runner";

export function searchTool(folder: string): RunnerTool {
	return {
		id: "search",
		description: "Finds the lines of the repository that hold a text.",
		schema: {
			type: "object",
			properties: { text: { type: "string", minLength: 1 } },
			required: ["text"],
			additionalProperties: false,
		},
		idempotent: true,
		async run(input) {
			const { text } = input as { text: string };
			const files = (await readdir(folder)).sort();
			const found = files.map(async (file) => {
				const lines = (await readFile(join(folder, file), "utf8")).split("\n");
				return lines.flatMap((line, at) =>
					line.includes(text) ? [{ file, line: at + 1, text: line.trim() }] : [],
				);
			});
			return (await Promise.all(found)).flat();
		},
	};
}

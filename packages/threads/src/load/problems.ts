// The problems of a project. They are collected and reported together.
import { relative } from "node:path";
import { HoldfastError } from "@holdfast/upp";

/** A problem in a file of a project. */
export interface ProjectProblem {
	/** Absolute path of the file. */
	readonly file: string;
	/** The invalid field, such as `sideA.prompt`; absent if the whole file is invalid. */
	readonly field?: string;
	/** The problem, and how to fix it. */
	readonly message: string;
}

/** Formats a problem as one line: the file relative to the project's folder, the field, and the problem. */
export function problemLine(directory: string, { file, field, message }: ProjectProblem): string {
	return `${relative(directory, file) || file}${field === undefined ? "" : ` (${field})`}: ${message}`;
}

/** Returns the error for a project that cannot be loaded. */
export function projectInvalid(directory: string, problems: readonly ProjectProblem[]): HoldfastError {
	const sorted = problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
	const lines = sorted.map((problem) => `  ${problemLine(directory, problem)}`);
	const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
	return new HoldfastError("project_invalid", `The project has ${count}:\n${lines.join("\n")}`, {
		data: { directory, problems: sorted },
	});
}

/** The built-in assistant's tools: they work inside one directory, and change nothing unless allowed to. */
import type { AssistantTool } from "./assistant-tool.ts";
import { createChangeFiles } from "./change-files.ts";
import { createFetchUrl } from "./fetch-url.ts";
import { createListFiles } from "./list-files.ts";
import { createReadFile } from "./read-file.ts";
import { createSearchText } from "./search-text.ts";
import { createShell } from "./shell.ts";
import { createTextFiles } from "./text-files.ts";
import { createUpdatePlan } from "./update-plan.ts";

export { ToolRefusal } from "./assistant-tool.ts";
export { walkFiles } from "./file-walk.ts";
export { endsWithReturns, isChangingTool, type PlannedChange, planChange } from "./planned-change.ts";
export { revertChange } from "./revert-change.ts";
export { openPath } from "./root.ts";
export { runCommand } from "./run-command.ts";
export { beginningOf, commandReport, isAllowed, shellTool } from "./shell.ts";
export { type DiffHunk, diffTexts } from "./text-diff.ts";

/** Options of the tool `shell`. */
export interface ShellOptions {
	/** Beginnings of commands that run without approval. */
	readonly allowed: readonly string[];
	/** The variables of the commands; credentials are left out. */
	readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Options of `createAssistantTools`. */
export interface AssistantToolsOptions {
	/** The directory to work in; links that lead out of it are rejected. */
	readonly root: string;
	/** Adds `fetch_url`. Default: off. */
	readonly allowNetwork?: boolean;
	/** Adds `shell`, whose calls require approval. Default: off. */
	readonly shell?: ShellOptions | undefined;
	/** Adds `write_file` and `edit_file`, whose calls require approval. Default: off. */
	readonly allowWrite?: boolean;
}

/** Creates `list_files`, `read_file` and `search_text` for one directory, and the other tools if they are allowed. */
export function createAssistantTools(options: AssistantToolsOptions): AssistantTool[] {
	const textFiles = createTextFiles();
	return [
		createListFiles(options.root),
		createReadFile(options.root, textFiles),
		createSearchText(options.root, textFiles),
		...(options.allowWrite === true ? createChangeFiles(options.root, textFiles) : []),
		...(options.shell === undefined
			? []
			: [createShell(options.root, options.shell.allowed, options.shell.environment)]),
		// Questions about files need no plan.
		...(options.allowWrite === true || options.shell !== undefined ? [createUpdatePlan()] : []),
		...(options.allowNetwork === true ? [createFetchUrl()] : []),
	];
}

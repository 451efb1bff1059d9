/** The built-in assistant's tools: they read, inside one directory, and change nothing. */
import type { AssistantTool } from "./assistant-tool.ts";
import { createFetchUrl } from "./fetch-url.ts";
import { createListFiles } from "./list-files.ts";
import { createReadFile } from "./read-file.ts";
import { createSearchText } from "./search-text.ts";
import { createTextFiles } from "./text-files.ts";

/** Options of `createAssistantTools`. */
export interface AssistantToolsOptions {
	/** The directory to read in; links that lead out of it are refused. */
	readonly root: string;
	/** Adds `fetch_url`. Default: off. */
	readonly allowNetwork?: boolean;
}

/** Makes `list_files`, `read_file` and `search_text` for one directory, and `fetch_url` when allowed. */
export function createAssistantTools(options: AssistantToolsOptions): AssistantTool[] {
	const textFiles = createTextFiles();
	return [
		createListFiles(options.root),
		createReadFile(options.root, textFiles),
		createSearchText(options.root, textFiles),
		...(options.allowNetwork === true ? [createFetchUrl()] : []),
	];
}

// The entry point of tool-search.
export {
	type ProviderSearchTool,
	type SearchableOptions,
	type SearchableTools,
	type SearchTool,
	searchable,
} from "./searchable.ts";

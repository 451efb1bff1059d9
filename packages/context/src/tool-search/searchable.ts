// Tools that the model finds with a search instead of seeing all of them. Only the search and the tools in `always` are
// sent. Tools that a search finds are loaded, and the engine records this.
import { checkOptions, HoldfastTypeError, isThenable, nearest, optionNames } from "@holdfast/upp";
import type { AnyTool, ToolContext } from "holdfast";
import type { LoadableTools, ToolSet } from "holdfast/types";
import { ToolIndex } from "./tool-index.ts";

/** Options of `searchable()`. */
export interface SearchableOptions<Name extends string = string> {
	/** Names of the tools that the model is always sent. Default: none. */
	readonly always?: readonly Name[];
	/** The name of the tool that searches. Default: `search_tools`. */
	readonly name?: string;
	/**
	 * A provider's own tool that searches, such as `anthropic.tools.toolSearchBm25_20251119()` of `@ai-sdk/anthropic` or
	 * `openai.tools.toolSearch()` of `@ai-sdk/openai`. The provider is sent all tools and shows the model those that it
	 * finds, without a further step. Use it with models of that provider that support it. Default: a search by Holdfast,
	 * which works with every model.
	 */
	readonly provider?: ProviderSearchTool | undefined;
	/**
	 * How many tools a search loads at most, from 1 to 50. More of them find the right tool more often, but every loaded
	 * tool stays in the prompt. Default: 5.
	 */
	readonly limit?: number;
}

/** A tool of a provider that searches tools. */
export interface ProviderSearchTool {
	/** Marks a tool that the provider defines. */
	readonly type: "provider" | "provider-defined";
	/** The name of the provider and that of the tool, such as `openai.tool_search`. */
	readonly id: string;
}

/** The tool that searches. */
export interface SearchTool {
	/** The name by which the model calls it. */
	readonly name: string;
	/** Explains to the model how to search. */
	readonly description: string;
	/** The schema of the arguments: `query`, a text. */
	readonly parameters: Readonly<Record<string, unknown>>;
	readonly retryPolicy: "pure";
	/** Loads the tools that match, and returns their descriptions. */
	run(input: { readonly query: string }, context: ToolContext): string;
}

/** The names that a list or record of tools has. */
type NameOf<Tools> = Tools extends readonly (infer Tool)[]
	? Tool extends { readonly name: infer Name extends string }
		? Name
		: string
	: keyof Tools & string;

/** The tools in the same form, plus the search tool. */
export type SearchableTools<Tools extends ToolSet, Search = SearchTool> = Tools extends readonly AnyTool[]
	? readonly [...Tools, Search]
	: Tools & Readonly<Record<"search_tools", Search>>;

const searchableNames = optionNames<SearchableOptions>({
	always: true,
	name: "text",
	provider: true,
	limit: "number",
});

const mostFound = 50;

/**
 * Makes the model search for tools instead of seeing all of them. The model is sent the tools in `always` and a tool that
 * searches the others by their names, descriptions and parameters. The tools that a search finds are appended to those
 * that the model is sent, from the next step until the end of the session. A call to a tool that was not found yet is
 * refused with advice to search.
 *
 * Use it for dozens of tools or more, such as those of MCP servers: a search costs one step, and the prompt stays small.
 * Tools that a provider defines are always sent. The result has the form of `tools`, a list or a record.
 *
 * @throws HoldfastError `invalid_option` for an unknown option, a name in `always` that no tool has, or if a tool already
 * has the name of the search; `invalid_tool` if `tools` is not a list or record.
 * @example
 * import { searchable } from "@holdfast/context";
 * import { openai } from "@ai-sdk/openai";
 * import { agent, tool } from "holdfast";
 *
 * const send = tool({ name: "send_mail", description: "Sends a mail.", parameters: z.object({ to: z.string() }), run: () => "Sent." });
 * const time = tool({ name: "time", description: "The time.", parameters: z.object({}), run: () => new Date().toISOString() });
 * const clerk = agent({ model: openai("gpt-5.2"), tools: searchable([send, time], { always: ["time"] }) });
 * console.log(clerk.tools.length); // 3
 */
export function searchable<const Tools extends ToolSet>(
	tools: Tools,
	options?: SearchableOptions<NameOf<Tools>> & { readonly provider?: undefined },
): SearchableTools<Tools>;
export function searchable<const Tools extends ToolSet, Search extends ProviderSearchTool>(
	tools: Tools,
	options: SearchableOptions<NameOf<Tools>> & { readonly provider: Search },
): SearchableTools<Tools, Search>;
export function searchable<const Tools extends ToolSet>(
	tools: Tools,
	options: SearchableOptions<NameOf<Tools>> = {},
): SearchableTools<Tools> {
	checkOptions(options, searchableNames, { of: "searchable()" });
	const { always = [], name = "search_tools", limit = 5, provider } = options;
	const named = namedTools(tools);
	checkSearchOptions({ always, name, limit }, named);
	if (provider !== undefined) checkProvider(provider, options);
	const kept = new Set<string>(always);
	let count = 0;
	const marked = named.map(([key, tool]): [string, AnyTool] => {
		if (kept.has(key) || isDefinedByProvider(tool)) return [key, tool];
		const changed = provider === undefined ? loadedBy(tool, name) : deferred(tool, provider);
		if (provider !== undefined || changed.loadedBy === name) count++;
		return [key, changed];
	});
	const search = provider === undefined ? searchTool(name, count, limit) : { ...provider, name };
	const all = count === 0 ? [] : [[name, search] as const];
	return (
		Array.isArray(tools)
			? [...marked, ...all].map(([, tool]) => tool)
			: Object.fromEntries<unknown>([...marked, ...all])
	) as SearchableTools<Tools>;
}

function searchTool(name: string, count: number, limit: number): SearchTool {
	/** By the tools that are searched: agents with the same tools share an index. */
	let last: { readonly tools: LoadableTools["tools"]; readonly index: ToolIndex } | undefined;
	const indexOf = (tools: LoadableTools["tools"]): ToolIndex => {
		const isSame = last?.tools.length === tools.length && tools.every((tool, at) => tool === last?.tools[at]);
		if (last === undefined || !isSame) last = { tools, index: new ToolIndex(tools) };
		return last.index;
	};
	return {
		name,
		description: `Finds further tools, of which there are ${count}, and makes them available from your next step on. Search before you decide that something cannot be done. Describe one task per search, with the words that the tool's name or description would have, such as "send slack message".`,
		parameters: {
			type: "object",
			properties: { query: { type: "string", description: "What the tool should do, in a few words." } },
			required: ["query"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		run({ query }, { loadable }) {
			const found = loadable === undefined ? [] : indexOf(loadable.tools).search(query, limit);
			if (loadable === undefined || found.length === 0)
				return "No tool matches. Search again with other words, such as the name of the product or the kind of thing.";
			loadable.load(found.map((tool) => tool.name));
			const lines = found.map((tool) => `- ${tool.name}: ${firstWords(tool.description)}`);
			return `You can call these tools now:\n${lines.join("\n")}`;
		},
	};
}

/** The model is sent the whole description in the next step. */
function firstWords(description: string): string {
	const [line = ""] = description.split("\n", 1);
	return line.length <= 120 ? line : `${line.slice(0, 119).replace(/\s+\S*$/, "")}…`;
}

function loadedBy(tool: AnyTool, name: string): AnyTool {
	return changed(tool, { loadedBy: tool.loadedBy ?? name });
}

/** Returns the tool as one that the provider shows the model only once it has found it. */
function deferred(tool: AnyTool, { id }: ProviderSearchTool): AnyTool {
	const [provider = ""] = id.split(".", 1);
	const { providerOptions, metadata } = tool as {
		readonly [Name in "providerOptions" | "metadata"]?: object;
	};
	const given = { ...(providerOptions ?? metadata) } as Readonly<Record<string, object>>;
	return changed(tool, {
		providerOptions: { ...given, [provider]: { ...given[provider], deferLoading: true } },
	});
}

/** Returns a copy, because the tool may also be used elsewhere. Its methods can be on its prototype. */
function changed(tool: AnyTool, changes: object): AnyTool {
	return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, changes);
}

function isDefinedByProvider(tool: AnyTool): boolean {
	const { type } = tool as { readonly type?: unknown };
	return type === "provider" || type === "provider-defined";
}

/** Returns the tools with their names. The agent reports values that are not tools. */
function namedTools(tools: ToolSet): readonly (readonly [string, AnyTool])[] {
	if (typeof tools !== "object" || tools === null || isThenable(tools))
		throw new HoldfastTypeError(
			"invalid_tool",
			"searchable() takes a list of tools, or a record of tools by name. If the tools are a promise, await it.",
		);
	return Object.entries(tools as Record<string, AnyTool>).map(([key, tool]) => {
		if (typeof tool !== "object" || tool === null)
			throw new HoldfastTypeError(
				"invalid_tool",
				`The tool at "${key}" given to searchable() is not an object.`,
			);
		return [Array.isArray(tools) ? (tool.name ?? "") : key, tool];
	});
}

function checkProvider(provider: ProviderSearchTool, { limit }: SearchableOptions): void {
	const { type, id } = (provider ?? {}) as { readonly [Name in keyof ProviderSearchTool]?: unknown };
	const isSearch = typeof id === "string" && /^\w+\.tool_search/.test(id);
	if (!isSearch || (type !== "provider" && type !== "provider-defined"))
		throw invalid(
			"`provider` must be a provider's tool that searches tools, such as `openai.tools.toolSearch()`.",
		);
	if (limit !== undefined)
		throw invalid("`limit` has no effect with `provider`, which decides how many tools it finds. Remove it.");
}

function checkSearchOptions(
	{ always, name, limit }: Required<Omit<SearchableOptions, "provider">>,
	named: readonly (readonly [string, AnyTool])[],
): void {
	const names = new Set(named.map(([key]) => key));
	if (!Array.isArray(always)) throw invalid("`always` must be a list of the names of tools.");
	for (const each of always) {
		if (names.has(each)) continue;
		const meant = nearest(String(each), names);
		throw invalid(
			`\`always\` names "${each}", which is not a tool.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`,
		);
	}
	if (typeof name !== "string" || name === "") throw invalid("`name` must be a non-empty string.");
	if (names.has(name)) throw invalid(`A tool is already named "${name}". Set \`name\` to another one.`);
	if (!Number.isInteger(limit) || limit < 1 || limit > mostFound)
		throw invalid(`\`limit\` must be a whole number from 1 to ${mostFound}.`);
}

function invalid(message: string): HoldfastTypeError {
	return new HoldfastTypeError("invalid_option", `The options of searchable() are invalid: ${message}`);
}

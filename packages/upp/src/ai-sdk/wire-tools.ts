// The tools of a request as the AI SDK has them, and the names by which the provider knows them.

import type { ToolDefinition } from "../messages/index.ts";
import { wellFormed } from "../text/index.ts";
import { objectSchema, wireToolName } from "../wire/index.ts";
import type { SpecificationVersion } from "./file-parts.ts";

export interface WireTools {
	readonly tools: object[];
	/** The tool's own name for each that the provider knows by another. */
	readonly ownNames: ReadonlyMap<string, string>;
}

const none: WireTools = { tools: [], ownNames: new Map() };
const known = { v2: newCache(), later: newCache() };

function newCache(): WeakMap<readonly ToolDefinition[], WireTools> {
	return new WeakMap();
}

/** The tools as they are sent. Kept with the list; a list that has grown since is converted again. */
export function wireTools(
	tools: readonly ToolDefinition[] | undefined,
	version: SpecificationVersion,
): WireTools {
	if (tools === undefined || tools.length === 0) return none;
	const cache = version === "v2" ? known.v2 : known.later;
	let made = cache.get(tools);
	if (made === undefined || made.tools.length !== tools.length) {
		const renamed = tools.map(({ name }) => [wireToolName(name), name] as const);
		made = {
			tools: tools.map((tool) => wireTool(tool, version)),
			ownNames: new Map(renamed.filter(([sent, name]) => sent !== name)),
		};
		cache.set(tools, made);
	}
	return made;
}

function wireTool(tool: ToolDefinition, version: SpecificationVersion): object {
	const { description, parameters, metadata, strict, inputExamples, provider } = tool;
	const name = wireToolName(tool.name);
	if (provider !== undefined)
		return {
			type: version === "v2" ? "provider-defined" : "provider",
			id: provider.id,
			name,
			args: provider.args,
		};
	return wellFormed({
		type: "function",
		name,
		description,
		inputSchema: objectSchema(parameters),
		...(strict === undefined ? {} : { strict }),
		...(inputExamples === undefined ? {} : { inputExamples }),
		...(metadata === undefined ? {} : { providerOptions: metadata }),
	});
}

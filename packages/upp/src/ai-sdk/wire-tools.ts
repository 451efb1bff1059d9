// The tools of a request as the AI SDK has them, and the names by which the provider knows them.

import type { ToolDefinition } from "../messages/index.ts";
import { wellFormed } from "../text/index.ts";
import { objectSchema, wireToolName } from "../wire/index.ts";

export interface WireTools {
	readonly tools: object[];
	/** The tool's own name for each that the provider knows by another. */
	readonly ownNames: ReadonlyMap<string, string>;
}

const none: WireTools = { tools: [], ownNames: new Map() };
const known = new WeakMap<readonly ToolDefinition[], WireTools>();

/** The tools as they are sent. Kept with the list; a list that has grown since is converted again. */
export function wireTools(tools: readonly ToolDefinition[] | undefined): WireTools {
	if (tools === undefined || tools.length === 0) return none;
	let made = known.get(tools);
	if (made === undefined || made.tools.length !== tools.length) {
		const renamed = tools.map(({ name }) => [wireToolName(name), name] as const);
		made = {
			tools: tools.map(wireTool),
			ownNames: new Map(renamed.filter(([sent, name]) => sent !== name)),
		};
		known.set(tools, made);
	}
	return made;
}

function wireTool({ name, description, parameters, metadata }: ToolDefinition): object {
	return wellFormed({
		type: "function",
		name: wireToolName(name),
		description,
		inputSchema: objectSchema(parameters),
		...(metadata === undefined ? {} : { providerOptions: metadata }),
	});
}

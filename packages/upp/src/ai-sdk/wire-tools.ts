// Converts the tools of a request to the AI SDK's format, with the names sent to the provider.

import type { ModelTool } from "../messages/index.ts";
import { wellFormed } from "../text/index.ts";
import {
	objectSchema,
	ownPropertyNames,
	wireArguments,
	wireToolName,
	withWireProperties,
} from "../wire/index.ts";
import type { Dialect } from "./dialect.ts";
import { hasBreakpoint } from "./prompt-cache.ts";

/** A tool that is sent to the provider under other names. */
export interface RenamedTool {
	readonly name: string;
	/** The tool's own property names by those that were sent; undefined if all are its own. */
	readonly properties?: ReadonlyMap<string, string>;
}

/** The renamed tools, by the name sent to the provider. */
export type RenamedTools = ReadonlyMap<string, RenamedTool>;

export interface WireTools {
	readonly tools: object[];
	readonly renamed: RenamedTools;
	/** Whether the caller has set a cache breakpoint on one of them. */
	readonly hasBreakpoints: boolean;
}

const none: WireTools = { tools: [], renamed: new Map(), hasBreakpoints: false };
const known = new WeakMap<Dialect, WeakMap<readonly ModelTool[], WireTools>>();

/** Returns the tools in the form that is sent. Cached with the list; a list that has grown since is converted again. */
export function wireTools(tools: readonly ModelTool[] | undefined, dialect: Dialect): WireTools {
	if (tools === undefined || tools.length === 0) return none;
	let cache = known.get(dialect);
	if (cache === undefined) {
		cache = new WeakMap();
		known.set(dialect, cache);
	}
	let made = cache.get(tools);
	if (made === undefined || made.tools.length !== tools.length) {
		const wire = tools.map((tool) => wireTool(tool, dialect));
		made = { tools: wire, renamed: renamedOf(tools, dialect), hasBreakpoints: wire.some(hasBreakpoint) };
		cache.set(tools, made);
	}
	return made;
}

function renamedOf(tools: readonly ModelTool[], dialect: Dialect): RenamedTools {
	const renamed = new Map<string, RenamedTool>();
	for (const { name, parameters, provider } of tools) {
		const sent = wireToolName(name);
		const properties =
			dialect.properties === "any" || provider !== undefined
				? undefined
				: ownPropertyNames(objectSchema(parameters));
		if (properties !== undefined) renamed.set(sent, { name, properties });
		else if (sent !== name) renamed.set(sent, { name });
	}
	return renamed;
}

function wireTool(tool: ModelTool, { version, properties }: Dialect): object {
	const { description, parameters, metadata, strict, inputExamples, provider } = tool;
	const name = wireToolName(tool.name);
	if (provider !== undefined)
		return {
			type: version === "v2" ? "provider-defined" : "provider",
			id: provider.id,
			name,
			args: provider.args,
		};
	const schema = objectSchema(parameters);
	const acceptsAny = properties === "any";
	const examples = acceptsAny
		? inputExamples
		: inputExamples?.map(({ input }) => ({ input: wireArguments(input) }));
	return wellFormed({
		type: "function",
		name,
		description,
		inputSchema: acceptsAny ? schema : withWireProperties(schema),
		...(strict === undefined ? {} : { strict }),
		...(examples === undefined ? {} : { inputExamples: examples }),
		...(metadata === undefined ? {} : { providerOptions: metadata }),
	});
}

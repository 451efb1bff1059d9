// Giving tools their context outside the engine: for strategies and tools that call tools themselves.
// The engine always passes the context, however a tool declares its parameters.

import type { AnyTool, ToolContext } from "./types.ts";

/**
 * Whether a tool's `run` visibly declares a second parameter. A hint only: an optional, defaulted or rest parameter
 * does not show, and the engine passes the context in any case.
 *
 * @see UAP 8.4
 */
export function isContextAwareTool(tool: AnyTool): boolean {
	return typeof tool.run === "function" && tool.run.length > 1;
}

/**
 * A copy of a tool whose `run` gets this context. What the caller of `run` passes as context itself comes first.
 * The tool given is not changed; one without `run` is returned as it is.
 */
export function injectToolContext<Tool extends AnyTool>(tool: Tool, context: Partial<ToolContext>): Tool {
	if (typeof tool.run !== "function") return tool;
	return {
		...tool,
		run: (params: unknown, own?: object) =>
			tool.run?.(params, own === undefined ? context : over(own, context)),
	};
}

/** `injectToolContext` for a list of tools. */
export function withToolContext<Tool extends AnyTool>(
	tools: readonly Tool[],
	context: Partial<ToolContext>,
): Tool[] {
	return tools.map((tool) => injectToolContext(tool, context));
}

// Reads through to the caller's own context, whose properties may be lazy, inherited and private to it.
function over(own: object, context: Partial<ToolContext>): object {
	const both = {};
	for (const key of [...namesOf(own), ...Object.keys(context)]) {
		const from = (key in own ? own : context) as Record<string, unknown>;
		const get = (): unknown => {
			const value = from[key];
			return typeof value === "function" ? value.bind(from) : value;
		};
		Object.defineProperty(both, key, { get, enumerable: true, configurable: true });
	}
	return both;
}

function namesOf(own: object): Set<string> {
	const names = new Set<string>();
	for (let at = own; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
		for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
	}
	return names;
}

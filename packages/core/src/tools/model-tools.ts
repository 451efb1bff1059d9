// Tools in the form in which models see them.
import type { ModelTool } from "@holdfast/upp";
import { normaliseTools } from "./normalise-tool.ts";
import type { ToolSet } from "./types.ts";

/**
 * Returns the name, the description and the JSON Schema of each tool, in any of the accepted forms; and `provider`, if
 * the model's provider defines and runs it.
 *
 * @throws HoldfastError `duplicate_tool`, `invalid_tool`, `agent_is_not_a_tool`, `invalid_schema`,
 * `schema_not_convertible`.
 * @example
 * ```ts
 * import { modelTools } from "holdfast/host";
 *
 * const [clock] = modelTools([{ name: "clock", description: "Returns the time.", parameters: { type: "object" }, run: () => 1 }]);
 * console.log(clock?.name, clock?.parameters.type); // clock object
 * ```
 */
export function modelTools(tools: ToolSet): readonly ModelTool[] {
	return [...normaliseTools(tools).values()].map(({ name, description, parameters, provider }) => {
		return { name, description, parameters, ...(provider === undefined ? {} : { provider }) };
	});
}

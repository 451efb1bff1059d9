// What a fold must know of an agent: how much of a result each of its tools shows to the model.
import type { FoldOptions } from "../facts/index.ts";
import { shownToModel } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";

/** How a tool's results are cut for the model, by tool name. */
export function foldOptions(agent: Pick<EngineAgent, "tools">): FoldOptions {
	return {
		show(toolName, result) {
			const tool = agent.tools.get(toolName);
			if (tool === undefined || tool.maxModelCharacters === Number.POSITIVE_INFINITY) return result;
			try {
				return shownToModel(tool, result).result;
			} catch {
				// A `readOn` that throws must not keep a fact from being folded.
				const { maxModelCharacters } = tool;
				return shownToModel({ maxModelCharacters }, result).result;
			}
		},
	};
}

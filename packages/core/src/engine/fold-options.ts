// The agent settings that a fold needs: how much of each tool's results the model sees, and the strategy's own fold.
import type { FoldOptions } from "../facts/index.ts";
import { shownToModel } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";

/** Returns how each tool's results are cut for the model, by tool name, and the strategy's own fold. */
export function foldOptions(agent: Pick<EngineAgent, "tools" | "decider">): FoldOptions {
	const { decider } = agent;
	const evolve = decider.evolve?.bind(decider);
	const own = evolve === undefined ? undefined : { initial: () => decider.initial?.(), evolve };
	return {
		own,
		show(toolName, result) {
			const tool = agent.tools.get(toolName);
			if (tool === undefined || tool.maxModelCharacters === Number.POSITIVE_INFINITY) return result;
			try {
				return shownToModel(tool, result).result;
			} catch {
				// A `readOn` that throws must not prevent a fact from being folded.
				const { maxModelCharacters } = tool;
				return shownToModel({ maxModelCharacters }, result).result;
			}
		},
	};
}

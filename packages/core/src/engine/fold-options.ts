// The agent settings that a fold needs: how much of each tool's results the model sees, and the strategy's own fold.
import { HoldfastError } from "@holdfast/upp";
import type { FoldOptions } from "../facts/index.ts";
import { type EngineTool, isShownWhole, shownToModel } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";

/** The tools that a warning was emitted about. */
const warned = new WeakSet<EngineTool>();

/** Returns how each tool's results are cut for the model, by tool name, and the strategy's own fold. */
export function foldOptions(agent: Pick<EngineAgent, "tools" | "decider" | "warn">): FoldOptions {
	const { decider } = agent;
	const evolve = decider.evolve?.bind(decider);
	const own = evolve === undefined ? undefined : { initial: () => decider.initial?.(), evolve };
	return {
		own,
		show(toolName, given) {
			const tool = agent.tools.get(toolName);
			if (isShownWhole(tool, given)) return given;
			try {
				const { result, unlimited } = shownToModel(tool, given);
				if (tool !== undefined && unlimited !== undefined) warnOnce(agent, tool, unlimited);
				return result;
			} catch {
				// A `readOn` or `onWarning` that throws must not prevent a fact from being folded.
				return shownToModel(tool && { maxModelCharacters: tool.maxModelCharacters }, given).result;
			}
		},
	};
}

function warnOnce({ warn }: Pick<EngineAgent, "warn">, tool: EngineTool, characters: number): void {
	if (warned.has(tool)) return;
	warned.add(tool);
	const { name } = tool;
	warn(
		new HoldfastError(
			"result_cut",
			`A result of the tool ${JSON.stringify(name)} has ${characters} characters, and the model sees only its beginning and its end. ` +
				"Use largeResults() of @holdfast/context to let the model read the rest, or set `maxModelCharacters` of the tool; Infinity removes the limit.",
			{ data: { name, characters } },
		),
	);
}

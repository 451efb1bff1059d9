// The inputs of a thread's next turn, for inspection.
import type { ThreadRecord } from "./records.ts";
import { renderPrompt } from "./render-prompt.ts";
import type { ThreadSystem } from "./system.ts";

/** The instructions of a thread's agent, and its callables. */
export interface ThreadTurnInfo {
	readonly model: string | undefined;
	readonly system: string | undefined;
	readonly tools: readonly {
		readonly name: string;
		readonly description: string;
		readonly parameters: unknown;
	}[];
	readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Returns the next turn of side A. Changes that hooks make to the system message, and the optional tools that are
 * offered, are known only within a turn.
 * @throws HoldfastError `agent_not_found`, `item_not_found`, `env_not_set`, `prompt_includes_itself`.
 */
export async function turnInfo(
	{ index, parts, place, prompts }: ThreadSystem,
	record: ThreadRecord,
): Promise<ThreadTurnInfo> {
	const prompt = index.promptOf({ agent: record.agentId, side: "a" });
	const env = await parts.environment(place(record), {
		agent: index.agent(record.agentId)?.env,
		prompt: prompt.definition.env,
	});
	return {
		model: prompt.definition.model,
		system: await renderPrompt({ index, env, prompts }, prompt),
		tools: index
			.callables(prompt)
			.map(({ name, description, parameters }) => ({ name, description, parameters })),
		params: {},
	};
}

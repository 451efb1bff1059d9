// The options and the origin of a session's fork, and information about the agent of a session's turns.
import { type SystemPart, textOfSystem } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { EngineAgent } from "../engine/index.ts";
import type { ChosenOptions } from "./read-input.ts";

/** Options of a fork. */
export interface ForkSettings {
	/**
	 * Where to fork: at the end of the run with this id, or at the entry with this seq; 0 copies no entry. Default: the
	 * end of the last run.
	 */
	readonly at?: string | number | undefined;
	/** Options of the fork. Default: those of the session. */
	readonly options?: ChosenOptions | undefined;
	/** Instructions of the fork. Default: those of the session. */
	readonly systemPrompt?: string | undefined;
	/** The requester. Default: unknown. */
	readonly caller?: Caller | undefined;
}

/** Where a fork comes from, or what a session was forked from. */
export interface SessionOrigin {
	/** The other session. */
	readonly key: string;
	/** The seq of the last entry that both sessions share; 0 for none. */
	readonly seq: number;
}

/** The agent of a session's turns, with what plugins and sub-agents add. */
export interface SessionAgentInfo {
	/** The id of the model; undefined for a model that is a function. */
	readonly model: string | undefined;
	/** The system prompt as one text; undefined if there is none, or a function returns it for each run. */
	readonly system: string | undefined;
	/** The system prompt as parts, if a part has settings of its own. */
	readonly systemParts?: readonly SystemPart[];
	/** The tools as the model sees them; `loadedBy` names the tool that loads one. */
	readonly tools: readonly {
		readonly name: string;
		readonly description: string;
		readonly parameters: unknown;
		/** The tool that loads it; absent if it is always sent. */
		readonly loadedBy?: string;
	}[];
	/** Model parameters such as `temperature`. */
	readonly params: Readonly<Record<string, unknown>>;
}

/** Returns the instructions and the tools of an agent. */
export function agentInfo({
	system,
	tools,
}: Pick<EngineAgent, "system" | "tools">): Omit<SessionAgentInfo, "model" | "params"> {
	return {
		system: system === undefined ? undefined : textOfSystem(system),
		...(typeof system === "object" ? { systemParts: system } : {}),
		tools: [...tools.values()].map(({ name, description, parameters, loadedBy }) => ({
			name,
			description,
			parameters,
			...(loadedBy === undefined ? {} : { loadedBy }),
		})),
	};
}

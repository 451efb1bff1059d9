// The question to an agent's `system` function, and where its answer goes (keeps I2).
import { attempt, type System } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { EngineAgent } from "./engine-agent.ts";
import type { Run } from "./run.ts";

/** The run for which an agent's `system` function is called. */
export interface SystemRequest {
	/** Absent in calls without a session. In a sub-agent, the key of its own session. */
	readonly sessionKey?: string | undefined;
	/** The requester of the run, if known. */
	readonly caller?: Caller | undefined;
}

/** The result of the function. */
export type AskedSystem = { readonly system: System } | { readonly error: unknown };

/** Calls the agent's `system` function; undefined if it has none. */
export function askSystem(agent: EngineAgent, about: SystemRequest): MaybePromise<AskedSystem | undefined> {
	const { instruct } = agent;
	if (instruct === undefined) return undefined;
	return attempt(
		() => instruct(about),
		(system): AskedSystem => ({ system }),
		(error): AskedSystem => ({ error }),
	);
}

/**
 * Returns the system prompt of the run's requests; undefined if it is the agent's own. Throws the error of the agent's
 * function.
 */
export function systemOf({ agent, state, systemFailed }: Run): System | undefined {
	if (agent.instruct === undefined) return undefined;
	if (systemFailed !== undefined) throw systemFailed.error;
	return state.run?.instructed === true ? state.system?.system : undefined;
}

// What a service is made with. What is wrong with it is said when it is made, not to the first who asks for a session.
import { checkModel, checkNames, checkOptions, toolsAsGiven } from "../agent/index.ts";
import { normaliseTools } from "../tools/index.ts";
import type { SessionServiceOptions } from "./session-service.ts";

/**
 * Checks the host, the agent and the models of a service.
 * @throws TypeError naming the option; HoldfastError `invalid_tool`, `duplicate_tool`.
 */
export function checkServed({ host, agent, models }: SessionServiceOptions): void {
	if (typeof host?.journal !== "object")
		throw new TypeError("The option `host` must be a host: what `sqliteHost()` or `memoryHost()` returned.");
	if (typeof agent !== "object" || agent === null)
		throw new TypeError("The option `agent` must be an agent, or the options of one.");
	checkNames(agent);
	for (const name of ["middleware", "checkpoints"] as const)
		if (agent[name] !== undefined)
			throw new TypeError(
				`The option \`${name}\` belongs to calls such as generate(), and sessions pass it by. Leave it out; what is to hold in sessions is a plugin.`,
			);
	if (agent.model !== undefined || models === undefined) checkModel(agent);
	checkOptions(agent);
	normaliseTools(toolsAsGiven(agent.tools));
}

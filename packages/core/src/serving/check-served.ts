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
	if (agent.checkpoints !== undefined)
		throw new TypeError(
			"The option `checkpoints` belongs to calls such as generate(); sessions keep their own state. Leave it out.",
		);
	if (agent.model !== undefined || models === undefined) checkModel(agent);
	checkOptions(agent);
	normaliseTools(toolsAsGiven(agent.tools));
}

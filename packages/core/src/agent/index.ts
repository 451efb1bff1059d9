// Door of agent.
export { Agent } from "./agent.ts";
export { checkModel, checkNames, checkOptions } from "./check-options.ts";
export { type AgentOptions, modelIdOf, toolsAsGiven } from "./options.ts";

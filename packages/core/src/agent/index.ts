// The entry point of agent.
export { Agent, agent } from "./agent.ts";
export { AgentSessions } from "./agent-sessions.ts";
export { checkAgentOptions, checkDependencies, checkModel, checkNames } from "./check-options.ts";
export { withoutInstance } from "./llm-instance.ts";
export { type AgentOptions, modelIdOf, resolveAgent, toolsAsGiven } from "./options.ts";
export type { AgentFor, TurnOptions } from "./session-agent.ts";
export type { SystemFunction, SystemOption } from "./system-option.ts";

export { type AgentsMdOptions, agentsMd, type ReadAgentsMdOptions, readAgentsMd } from "./agents-md.ts";
export type { AgentsMdFile, AgentsMdFound } from "./read-agents-md.ts";

// Door of delegation: work that a model gives to its agent's sub-agents.
export { checkSubagents, type Subagent } from "./check-subagents.ts";
export { delegatingAgent } from "./delegation.ts";

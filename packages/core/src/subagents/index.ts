// Door of subagents.
export { checkSubagents, type Subagent } from "./check-subagents.ts";
export { delegatingAgent } from "./delegation.ts";
export { readTaskKey } from "./task-key.ts";

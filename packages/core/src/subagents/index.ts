// Entry point of sub-agents.
export { checkSubagents, delegateToolName, type Subagent, subagentToolNames } from "./check-subagents.ts";
export { type BindTool, delegatingAgent } from "./delegation.ts";
export { describeWork, type OwnerOfTool, workOf } from "./session-tool.ts";
export { readTaskKey } from "./task-key.ts";

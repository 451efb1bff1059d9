// Door of the sub-agents.
export type {
	SubagentEndEvent,
	SubagentEvent,
	SubagentInnerEvent,
	SubagentStartEvent,
} from "../engine/index.ts";
export { createSubAgentTool, type SubAgentTool, type SubAgentToolOptions } from "./create-sub-agent-tool.ts";

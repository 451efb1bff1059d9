// Entry point of threads.

export type { GivenMcpTool } from "./callable.ts";
export { deleteThread } from "./delete-thread.ts";
export type { ThreadLog, ThreadLogger } from "./logs.ts";
export { type GivenMcp, mcpProblems } from "./mcp-tools.ts";
export { dataOf } from "./message-data.ts";
export { callOf, type ModelCall } from "./model-calls.ts";
export type { ModelFacts, ModelLists } from "./model-lists.ts";
export type {
	EffectsPart,
	EnvironmentPart,
	EnvironmentScope,
	FilesPart,
	ThreadParts,
	ThreadPlace,
	ValuesPart,
} from "./parts.ts";
export { PromptEdits, type PromptVersion } from "./prompt-edits.ts";
export type { ListedThread, ListThreads, ParentLink, ThreadRecord } from "./records.ts";
export { requestsShelf } from "./requests.ts";
export { systemOf } from "./system.ts";
export { messageIdOf } from "./thread-model.ts";
export { ThreadView } from "./thread-view.ts";
export { Threads, threads } from "./threads.ts";
export type { CreateThreadOptions, ThreadListener, ThreadsOptions } from "./threads-options.ts";
export { type ThreadTurnInfo, turnInfo } from "./turn-info.ts";

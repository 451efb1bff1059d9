// Entry point `holdfast/plugins`: policy that is written once and used by many agents, and the built-in plugins.

export { memoryValues, type NamedValue, type SessionValues, type ValueStore } from "./host/values.ts";
export type { AskModel } from "./policy/plugins/ask-model.ts";
export { type CompactionOptions, compaction } from "./policy/plugins/compaction.ts";
export { type MemoryOptions, memory, type NoteDatabase } from "./policy/plugins/memory.ts";
export {
	type AssembleContext,
	definePlugin,
	type HookContext,
	type HookName,
	type InstructionsFunction,
	type InstructionsRequest,
	type Overlay,
	type Plugin,
	type PluginHooks,
	type PluginHost,
	type PluginToolOptions,
	type ResultRecordContext,
	type SessionForkContext,
	type SkillInfo,
	type StepAfterContext,
	type StepBeforeContext,
	type ToolCallContext,
	type ToolResultContext,
	type ToolResultReplacement,
	type ToolSession,
	type TurnAfterContext,
	type TurnBeforeContext,
	type TurnResult,
} from "./policy/plugins/plugin.ts";

// Door of the plugins: policy at the turns, steps and tool calls of sessions.
export { type AskModel, askModel } from "./ask-model.ts";
export { type CompactionOptions, compaction } from "./compaction.ts";
export { type MemoryOptions, memory } from "./memory.ts";
export {
	type AssembleContext,
	definePlugin,
	type HookContext,
	type HookName,
	type Overlay,
	type Plugin,
	type PluginHooks,
	type PluginHost,
	type StepAfterContext,
	type StepBeforeContext,
	type ToolCallContext,
	type ToolResultContext,
	type ToolResultReplacement,
	type TurnAfterContext,
	type TurnBeforeContext,
	type TurnResult,
} from "./plugin.ts";
export {
	checkPlugins,
	type PluginSet,
	type SetupOptions,
	setupPlugins,
	type TurnFrame,
} from "./plugin-set.ts";
export { memoryValues, type NamedValue, type SessionValues, type ValueStore } from "./session-values.ts";
export { sessions } from "./sessions.ts";
export { storedValues } from "./stored-values.ts";

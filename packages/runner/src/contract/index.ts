// Entry point of the contract: the types that all parts of a runner share.

export type {
	AgentConfig,
	AgentSpec,
	ContentMatcher,
	EventHooks,
	Runner,
	RuntimeFlags,
	SafetyConfig,
	WriteRule,
} from "./agent-config.ts";
export type {
	AgentEventName,
	Health,
	HealthCheck,
	RunnerAgent,
	RunnerSession,
	RunOptions,
} from "./agent-contract.ts";
export type {
	AgentResult,
	MemoryChange,
	ModelCall,
	Provenance,
	RoutedCall,
	RunTokenUsage,
} from "./agent-result.ts";
export type {
	EventBus,
	EventStore,
	RecordAnchor,
	RecordVerdict,
	RunnerEvent,
	RunnerEventType,
	StoredEvent,
} from "./events.ts";
export type {
	CallUsage,
	ChatMessage,
	ChatPart,
	LLMClient,
	ModelCallOptions,
	ModelInfo,
	ModelProvider,
	ModelRequest,
	ModelResponse,
	ScoreProvider,
	TokenChunk,
	TokenPrice,
} from "./llm-client.ts";
export { plainOf, textOf } from "./plain-of.ts";
export type {
	ActionResult,
	ResultError,
	RunnerStep,
} from "./plan-step.ts";
export type {
	Planner,
	PlannerContext,
	PlannerState,
	ReflectionResult,
	Reflector,
} from "./planner.ts";
export type {
	PromptEngine,
	PromptStore,
	PromptTemplate,
	RenderedPrompt,
} from "./prompt-store.ts";
export {
	type BeginAnswer,
	type CallAnswer,
	changesOf,
	executorTool,
	memoryTool,
	type PlanAnswer,
	type PlannedWrite,
	type ReflectAnswer,
	type StepVerdict,
	topics,
} from "./recorded.ts";
export type {
	AuditRecord,
	AuditSink,
	EnforcementPoint,
	PolicyDecision,
	PolicyEngine,
	PolicyQuestion,
} from "./safety-config.ts";
export type { RunIdentity, SafetyLayer } from "./safety-layer.ts";
export type {
	RunnerTool,
	RunnerToolContext,
	ToolExecutor,
	ToolMeta,
	ToolOutput,
	ToolRetryOptions,
} from "./tool-definition.ts";

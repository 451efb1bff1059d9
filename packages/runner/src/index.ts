// The main entry point: accountable agents that plan, act and reflect under a policy.

export type { Metrics, ModelMetrics, ToolMetrics } from "./agent/index.ts";
export {
	AgentService,
	DefaultRunner,
	FixedClock,
	type PlanActReflectOptions,
	planActReflect,
	type ReadResultOptions,
	RunnerAgent,
	readResult,
} from "./agent/index.ts";
export type {
	AgentConfig,
	AgentSpec,
	ContentMatcher,
	EventHooks,
	Runner,
	RuntimeFlags,
	SafetyConfig,
	WriteRule,
} from "./contract/agent-config.ts";
export type {
	AgentEventName,
	Health,
	HealthCheck,
	RunnerSession,
	RunOptions,
} from "./contract/agent-contract.ts";
export type {
	AgentResult,
	MemoryChange,
	ModelCall,
	Provenance,
	RunTokenUsage,
} from "./contract/agent-result.ts";
export { type ResultCode, resultCodes } from "./contract/error-codes.ts";
export type {
	EventBus,
	EventStore,
	RecordAnchor,
	RecordVerdict,
	RunnerEvent,
	RunnerEventType,
	StoredEvent,
} from "./contract/events.ts";
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
} from "./contract/llm-client.ts";
export type {
	ActionResult,
	ResultError,
	RunnerStep,
} from "./contract/plan-step.ts";
export type {
	Planner,
	PlannerContext,
	PlannerState,
	ReflectionResult,
	Reflector,
} from "./contract/planner.ts";
export type {
	PromptEngine,
	PromptStore,
	PromptTemplate,
	RenderedPrompt,
} from "./contract/prompt-store.ts";
export type {
	AuditRecord,
	AuditSink,
	EnforcementPoint,
	PolicyDecision,
	PolicyEngine,
	PolicyQuestion,
} from "./contract/safety-config.ts";
export type {
	RunnerTool,
	RunnerToolContext,
	ToolExecutor,
	ToolMeta,
	ToolOutput,
	ToolRetryOptions,
} from "./contract/tool-definition.ts";
export {
	databaseEventStore,
	type EventStoreOptions,
	fileEventStore,
	memoryEventStore,
} from "./events/index.ts";
export { type ModelPlannerOptions, modelPlanner, type PlannerManner, stepsPlanner } from "./loop/index.ts";
export {
	type AdapterOptions,
	anthropicClient,
	type KeyedAdapterOptions,
	localClient,
	type ModelClientOptions,
	modelClient,
	openaiClient,
} from "./models/index.ts";

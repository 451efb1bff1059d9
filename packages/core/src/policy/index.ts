// The entry point of policy.

export type { Admitting } from "./admission.ts";
export { type AdmitWaiting, admitWaitingOf } from "./admit-waiting.ts";
export { AgentPolicy } from "./agent-policy.ts";
export { aroundRun } from "./around-run.ts";
export { AssembledRequest, GrowingSum } from "./assembled-request.ts";
export { callersPolicy, type HasCallersPolicy } from "./callers-policy.ts";
export type {
	Delta,
	DeltaSource,
	Interceptor,
	ModelAnswer,
	ReplacedResult,
	ToolCallDecision,
} from "./interceptor.ts";
export type { DrivenStages } from "./join-stages.ts";
export { estimateTokens } from "./middleware/estimate-tokens.ts";
export type { MiddlewareEntry } from "./middleware/middleware-face.ts";
export { isOwnView, sameBeginning } from "./own-views.ts";
export { askModel } from "./plugins/ask-model.ts";
export { checkPlugins, type Plugin } from "./plugins/plugin.ts";
export type { PluginSet } from "./plugins/plugin-set.ts";
export { setupPlugins } from "./plugins/setup-plugins.ts";
export { type PolicyFiles, policyFiles, policyValues } from "./policy-data.ts";
export {
	callKey,
	isReservedKey,
	keyAbove,
	type PolicyAgent,
	type PolicyRun,
	type RunContext,
} from "./policy-run.ts";
export { RunMetadata } from "./run-metadata.ts";
export { RunPolicy } from "./run-policy.ts";
export type { TurnOverlays } from "./turn-overlays.ts";

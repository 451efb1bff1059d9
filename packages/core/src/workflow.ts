// Entry point `holdfast/workflow`: durable functions of your own, in the same sessions and journal as agents.
export type { Duration } from "./workflow/duration.ts";
export type { Flow } from "./workflow/flow.ts";
export type { StepContext } from "./workflow/flow-call.ts";
export type { FlowChild } from "./workflow/flow-children.ts";
export type { EventOptions, ModelOptions, StepOptions } from "./workflow/flow-options.ts";
export { warnOfUnrecorded } from "./workflow/unrecorded.ts";
export { type Workflow, type WorkflowOptions, workflow } from "./workflow/workflow.ts";
export type {
	WorkflowResult,
	WorkflowRun,
	WorkflowSendOptions,
	WorkflowSession,
} from "./workflow/workflow-session.ts";

// Entry point `holdfast/workflow`: durable functions of your own, in the same sessions and journal as agents.
export type { Duration } from "./workflow/duration.ts";
export type { EventOptions, Flow, StepOptions } from "./workflow/flow.ts";
export type { StepContext } from "./workflow/flow-call.ts";
export { type Workflow, type WorkflowOptions, workflow } from "./workflow/workflow.ts";
export type {
	WorkflowResult,
	WorkflowRun,
	WorkflowSendOptions,
	WorkflowSession,
} from "./workflow/workflow-session.ts";

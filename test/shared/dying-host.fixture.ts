// Workers that die at an append, as `runWorkflow` has them.
export { DyingStore, type DyingWorker } from "../../packages/testing/src/workflow/dying-store.ts";
export type { WorkflowCrash as Death } from "../../packages/testing/src/workflow/run-workflow.ts";

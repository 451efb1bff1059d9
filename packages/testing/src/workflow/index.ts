// Entry point of the tests of workflows.

export { DyingStore, type DyingWorker } from "./dying-store.ts";
export {
	type RunWorkflowOptions,
	runWorkflow,
	type WorkflowCrash,
	type WorkflowTestResult,
} from "./run-workflow.ts";

// Entry point of the tests of workflows.
export {
	type RunWorkflowOptions,
	runWorkflow,
	type WorkflowCrash,
	type WorkflowTestResult,
} from "./run-workflow.ts";

// @holdfast/testing: helpers for tests of agents and of host stores.
export {
	type CheckpointStoreContractOptions,
	type CheckpointStoreWorld,
	checkpointStoreContract,
} from "./checkpoint/index.ts";
export type { ContractCase } from "./contract/index.ts";
export {
	type ExecutionHostContractOptions,
	type ExecutionHostWorld,
	executionHostContract,
} from "./execution-host/index.ts";
export { type HostContractOptions, type HostWorld, hostContract } from "./host/index.ts";
export { type JournalContractOptions, type JournalWorld, journalContract } from "./journal/index.ts";
export { type MemoryContractOptions, type MemoryWorld, memoryContract } from "./memory/index.ts";
export {
	type Script,
	type ScriptedCall,
	type ScriptedModel,
	type ScriptedModelOptions,
	type ScriptedReply,
	scriptedModel,
} from "./model/index.ts";
export {
	type SessionStoreContractOptions,
	type SessionStoreWorld,
	sessionStoreContract,
} from "./session-store/index.ts";
export {
	type PlantedFault,
	plantedFaults,
	type SimulatedStore,
	type SimulationOptions,
	type SimulationResult,
	simulate,
	type WorldClock,
	type WorldFault,
} from "./simulation/index.ts";
export { type ManualTime, manualTime } from "./time/index.ts";
export {
	DyingStore,
	type DyingWorker,
	type RunWorkflowOptions,
	runWorkflow,
	type WorkflowCrash,
	type WorkflowTestResult,
} from "./workflow/index.ts";

// Entry `holdfast/testing`: what tests of agents and of journals need.
export {
	type CheckpointStoreContractOptions,
	type CheckpointStoreWorld,
	checkpointStoreContract,
} from "./checkpoint/contract/contract.ts";
export type { ExecutionHostContractOptions, ExecutionHostWorld } from "./execution-host/contract/contract.ts";
export { executionHostContract } from "./execution-host/contract/index.ts";
export type { ContractCase, JournalContractOptions, JournalWorld } from "./host/contract/contract.ts";
export { journalContract } from "./host/contract/index.ts";
export {
	type SessionStoreContractOptions,
	type SessionStoreWorld,
	sessionStoreContract,
} from "./stores/session-store/contract/contract.ts";
export {
	type Script,
	type ScriptedCall,
	type ScriptedModel,
	type ScriptedReply,
	scriptedModel,
} from "./testing/scripted-model.ts";
export { type PlantedFault, plantedFaults } from "./testing/simulation/planted-faults.ts";
export { type SimulationOptions, type SimulationResult, simulate } from "./testing/simulation/simulate.ts";
export type { WorldFault } from "./testing/simulation/world.ts";

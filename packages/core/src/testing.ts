// Entry `holdfast/testing`: what tests of agents and of journals need.
export {
	type CheckpointStoreContractOptions,
	type CheckpointStoreWorld,
	checkpointStoreContract,
} from "./checkpoint/contract/index.ts";
export {
	type ExecutionHostContractOptions,
	type ExecutionHostWorld,
	executionHostContract,
} from "./execution-host/contract/index.ts";
export {
	type ContractCase,
	type JournalContractOptions,
	type JournalWorld,
	journalContract,
} from "./journal/contract/index.ts";
export {
	type SessionStoreContractOptions,
	type SessionStoreWorld,
	sessionStoreContract,
} from "./session-store/contract/index.ts";
export {
	type Script,
	type ScriptedCall,
	type ScriptedModel,
	type ScriptedReply,
	scriptedModel,
} from "./testing/scripted-model.ts";
export {
	type PlantedFault,
	plantedFaults,
	type SimulationOptions,
	type SimulationResult,
	simulate,
	type WorldFault,
} from "./testing/simulation/index.ts";

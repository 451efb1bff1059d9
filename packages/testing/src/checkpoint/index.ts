// Entry point of the contract of checkpoint stores.
export {
	type CheckpointStoreContractOptions,
	type CheckpointStoreWorld,
	checkpointStoreContract,
	expectWhole,
	oddIds,
	stateOf,
} from "./checkpoint-contract.ts";

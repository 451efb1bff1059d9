// Door of the contract.
export {
	type CheckpointStoreContractOptions,
	type CheckpointStoreWorld,
	checkpointStoreContract,
} from "./contract.ts";

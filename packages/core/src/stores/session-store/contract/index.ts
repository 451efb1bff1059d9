// Door of the contract.
export {
	type SessionStoreContractOptions,
	type SessionStoreWorld,
	sessionStoreContract,
} from "./contract.ts";

// Entry point of the contract of session stores.
export {
	oddKeys,
	type SessionStoreContractOptions,
	type SessionStoreWorld,
	sessionStoreContract,
} from "./session-store-contract.ts";

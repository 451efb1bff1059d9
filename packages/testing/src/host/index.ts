// Entry point of the contract of a host's ports except its journal.
export { type HostContractOptions, type HostWorld, hostContract } from "./host-contract.ts";

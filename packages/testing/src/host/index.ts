// Entry point of the contract of the ports besides a journal.
export { type HostContractOptions, type HostWorld, hostContract } from "./host-contract.ts";

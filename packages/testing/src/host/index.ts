// Door of the contract of the ports beside a journal.
export { type HostContractOptions, type HostWorld, hostContract } from "./host-contract.ts";

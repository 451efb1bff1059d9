// Entry point of the contract of execution hosts.
export { executionHostContract } from "./execution-host-contract.ts";
export type { ExecutionHostContractOptions, ExecutionHostWorld } from "./execution-host-world.ts";

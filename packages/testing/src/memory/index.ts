// Entry point of the contract of memory and database clients.
export { type MemoryContractOptions, type MemoryWorld, memoryContract } from "./memory-contract.ts";

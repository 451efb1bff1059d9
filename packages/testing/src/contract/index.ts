// Door of what all contracts are made of.
export type { ContractCase } from "./contract-case.ts";

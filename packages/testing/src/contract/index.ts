// Shared parts of all contracts.

/** One case: it is kept when `run` resolves. */
export interface ContractCase {
	readonly name: string;
	run(): Promise<void>;
}

// Shared parts of all contracts.

/** A case; it passes if `run` resolves. */
export interface ContractCase {
	readonly name: string;
	run(): Promise<void>;
}

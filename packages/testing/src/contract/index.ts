// Shared parts of all contracts.

/** A case; it passes if `run` resolves. */
export interface ContractCase {
	/** The behavior that the case verifies. */
	readonly name: string;
	/** Runs the case; rejects if the implementation is wrong. */
	run(): Promise<void>;
}

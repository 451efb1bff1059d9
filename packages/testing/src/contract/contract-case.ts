// A case of a contract, as any test runner takes it.

/** One case: it is kept when `run` resolves. */
export interface ContractCase {
	readonly name: string;
	run(): Promise<void>;
}

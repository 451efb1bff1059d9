// Door of the contract.
import { appendCases } from "./append-cases.ts";
import { type ContractCase, type JournalContractOptions, toContractCase } from "./contract.ts";
import { inboxCases } from "./inbox-cases.ts";
import { leaseCases } from "./lease-cases.ts";

export type { ContractCase, JournalContractOptions, JournalWorld } from "./contract.ts";

/**
 * The cases a journal must keep. Needs no test runner: give each case's `name` and `run` to yours.
 * @example
 * for (const { name, run } of journalContract({ name: "mine", make })) test(name, run);
 */
export function journalContract(options: JournalContractOptions): readonly ContractCase[] {
	const { can = ["kill", "stop"] } = options;
	return [...appendCases, ...leaseCases, ...inboxCases]
		.filter(({ needs }) => needs === undefined || can.includes(needs))
		.map((written) => toContractCase(options, written));
}

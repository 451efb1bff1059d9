// The contract of execution stores, as a list of cases for any test runner. Each case gets a separate store.
import type { ContractCase } from "../contract/index.ts";
import { sessionStoreContract } from "../session-store/index.ts";
import { type ExecutionHostContractOptions, toContractCase } from "./execution-host-world.ts";
import { runCases } from "./run-cases.ts";
import { storeCases } from "./store-cases.ts";

/**
 * Returns the cases that the store of an execution host must pass. Works with any test runner: pass each case's `name`
 * and `run` to yours.
 * @example
 * import { createInMemoryExecutionHost } from "holdfast/execution-host";
 *
 * const make = () => {
 * 	let time = 0;
 * 	const host = createInMemoryExecutionHost({ clock: { now: () => time } });
 * 	const advance = (milliseconds: number) => {
 * 		time += milliseconds;
 * 	};
 * 	return { host: () => host, advance, end() {} };
 * };
 * for (const { run } of executionHostContract({ name: "memory", make })) await run();
 */
export function executionHostContract(options: ExecutionHostContractOptions): readonly ContractCase[] {
	return [
		...[...runCases, ...storeCases].map((written) => toContractCase(options, written)),
		// Session states must pass the contract of session stores.
		...sessionStoreContract({
			name: `${options.name}, sessions`,
			async make() {
				const world = await options.make();
				return { store: async () => (await world.host()).store.sessions, end: () => world.end() };
			},
		}),
	];
}

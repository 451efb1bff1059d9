// The contract of journals, as a list of cases for any test runner. Each case gets a separate store.
import type { ContractCase } from "../contract/index.ts";
import { appendCases } from "./append-cases.ts";
import { chunkCases } from "./chunk-cases.ts";
import { foldCases } from "./fold-cases.ts";
import { forkCases } from "./fork-cases.ts";
import { inboxCases } from "./inbox-cases.ts";
import { incarnationCases } from "./incarnation-cases.ts";
import { type JournalContractOptions, toContractCase } from "./journal-world.ts";
import { leaseCases } from "./lease-cases.ts";

/**
 * Returns the cases that a journal must pass. Works with any test runner: pass each case's `name` and `run` to yours.
 * @example
 * ```ts
 * import { sqliteHost } from "holdfast/sqlite";
 * import { journalContract } from "@holdfast/testing";
 *
 * let store = 0;
 * const make = () => {
 * 	const path = `./contract-${store++}.db`;
 * 	const hosts: ReturnType<typeof sqliteHost>[] = [];
 * 	return {
 * 		worker() {
 * 			const host = sqliteHost(path);
 * 			hosts.push(host);
 * 			return host.journal;
 * 		},
 * 		async end() {
 * 			for (const host of hosts) await host.close();
 * 		},
 * 	};
 * };
 * const [first] = journalContract({ name: "sqlite", make, can: [] });
 * await first?.run();
 * console.log(first?.name, "is kept");
 * ```
 */
export function journalContract(options: JournalContractOptions): readonly ContractCase[] {
	const { can = ["kill", "stop", "fold", "chunks"] } = options;
	return [
		...appendCases,
		...leaseCases,
		...inboxCases,
		...foldCases,
		...forkCases,
		...chunkCases,
		...incarnationCases,
	]
		.filter(({ needs }) => needs === undefined || can.includes(needs))
		.map((written) => toContractCase(options, written));
}

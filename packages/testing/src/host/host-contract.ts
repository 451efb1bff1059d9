// The contract of a host's ports except its journal, as a list of cases for any test runner. Each case gets a separate
// store.
import type { Host } from "holdfast";
import type { MaybePromise } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";
import { changesCases } from "./changes-cases.ts";
import { filesCases } from "./files-cases.ts";
import type { HostPort, PortHost } from "./port-case.ts";
import { recordsCases } from "./records-cases.ts";
import { timersCases } from "./timers-cases.ts";
import { valuesCases } from "./values-cases.ts";

/** A store and the hosts that share it, for one case. */
export interface HostWorld {
	/** Creates a host over the store, or returns the same one if a store has only one process. */
	host(): MaybePromise<Host>;
	/** Closes all hosts and removes the store. */
	end(): MaybePromise<void>;
}

/** Options of `hostContract`. */
export interface HostContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/**
	 * Creates an empty store. Its files are limited either to 1,000,000 bytes each and 1,500,000 per session, or not at
	 * all.
	 */
	make(): MaybePromise<HostWorld>;
	/** The ports of the host in addition to its journal. Default: all of them. */
	readonly has?: readonly HostPort[];
	/** Whether the hosts of `make` limit files. Default: false. */
	readonly limitsFiles?: boolean;
}

/**
 * Returns the cases that the ports of a host must pass. Works with any test runner: pass each case's `name` and `run` to
 * yours.
 * @example
 * ```ts
 * import { memoryHost } from "holdfast";
 * import { hostContract } from "@holdfast/testing";
 *
 * const make = () => {
 * 	const host = memoryHost();
 * 	return { host: () => host, end: () => host.close() };
 * };
 * const [first] = hostContract({ name: "memory", make });
 * await first?.run();
 * console.log(first?.name, "is kept");
 * ```
 */
export function hostContract(options: HostContractOptions): readonly ContractCase[] {
	const {
		name,
		make,
		has = ["values", "records", "files", "timers", "changes"],
		limitsFiles = false,
	} = options;
	const cases = {
		values: valuesCases,
		records: recordsCases,
		files: filesCases,
		timers: timersCases,
		changes: changesCases,
	};
	return has
		.flatMap((port) => cases[port].map((written) => ({ port, ...written })))
		.filter(({ needsLimits = false }) => !needsLimits || limitsFiles)
		.map(({ port, title, run }) => ({
			name: `${name}, ${port}: ${title}`,
			async run() {
				const world = await make();
				try {
					await run({ host: async () => (await world.host()) as PortHost });
				} finally {
					await world.end();
				}
			},
		}));
}
